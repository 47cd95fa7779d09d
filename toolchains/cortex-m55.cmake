# Cortex-M55 with its FPU and Helium (MVE).
set(ADAPVAE_CPU "-mcpu=cortex-m55")
include(${CMAKE_CURRENT_LIST_DIR}/cortex_m.cmake)
