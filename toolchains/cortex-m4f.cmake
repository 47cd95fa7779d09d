# Cortex-M4 with the single-precision FPU: double arithmetic is done in software.
set(ADAPVAE_CPU "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16")
include(${CMAKE_CURRENT_LIST_DIR}/cortex_m.cmake)
