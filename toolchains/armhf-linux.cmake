# Linux on 32-bit Arm boards with an FPU, with Debian's cross compiler (g++-arm-linux-gnueabihf). Tests run in QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(adapvae_qemu qemu-arm-static)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
