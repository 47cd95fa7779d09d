# What the Linux boards have in common: QEMU takes a board's libraries from where the cross compiler has them.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libc.so.6
  OUTPUT_VARIABLE adapvae_libc OUTPUT_STRIP_TRAILING_WHITESPACE)
cmake_path(GET adapvae_libc PARENT_PATH adapvae_root)
file(REAL_PATH ${adapvae_root}/.. adapvae_root)
set(CMAKE_CROSSCOMPILING_EMULATOR ${adapvae_qemu} -L ${adapvae_root})
set(CMAKE_FIND_ROOT_PATH ${adapvae_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
