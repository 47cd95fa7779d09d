# Linux on 64-bit RISC-V boards, with Debian's cross compiler (g++-riscv64-linux-gnu). Tests run in QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(adapvae_qemu qemu-riscv64-static)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
