# Linux on 64-bit Arm boards, with Debian's cross compiler (g++-aarch64-linux-gnu). Tests run in QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(adapvae_qemu qemu-aarch64-static)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
