# Cortex-M7 with the double-precision FPU.
set(ADAPVAE_CPU "-mcpu=cortex-m7 -mfpu=fpv5-d16")
include(${CMAKE_CURRENT_LIST_DIR}/cortex_m.cmake)
