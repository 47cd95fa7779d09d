// A plug-in whose device is the CPU: stands in for libadapvae_cuda.so, so that loading it, and a
// model that computes there, can be tested through the C API without a device.
#include "support/host_device.h"

extern "C" __attribute__((visibility("default"))) const adapvae::DeviceTable*
adapvae_cuda_device_table();

const adapvae::DeviceTable* adapvae_cuda_device_table() { return &adapvae::testing::host_device(); }
