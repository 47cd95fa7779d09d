// A model whose operations run on the device under test.
#pragma once

#include "compute/cuda/cuda_backend.h"
#include "support/host_device.h"
#include "support/model_fixture.h"

namespace adapvae::testing {

// Few rows and epochs: kernels under the shim take their time.
inline Configuration quick_model() {
  Configuration config = small_model();
  config.hidden1 = 12;
  config.latent = 3;
  config.block_rows = 60;
  config.pass_rows = 32;
  config.batch = 20;
  config.pretrain_epochs = 4;
  config.adapt_epochs = 2;
  config.joint_epochs = 2;
  config.max_clusters = 6;
  return config;
}

struct DeviceModel {
  explicit DeviceModel(const Configuration& config_in)
      : config(config_in),
        memory(planned_bytes(
            [&](Arena& a) { model.place(a, config, ModelUse::kLearn, MemoryLayout::kApart); })),
        arena(memory.data(), memory.size()) {
    REQUIRE(check_configuration(config).ok());
    model.place(arena, config, ModelUse::kLearn, MemoryLayout::kApart);
    model.reset();
    REQUIRE(open().ok());
  }
  // As adapvae_create() does it. Anew: as on another device, which has never seen the model.
  Status open() {
    (void)model.network().parameters();  // to be sent again
    const auto kept = model.device_memory();
    return backend.open(device_under_test(), {.limits = Model::limits(config),
                                              .stream_rows = Model::stream_rows(config),
                                              .kept = kept,
                                              .more_bytes = Model::loose_weight_bytes(config)});
  }
  Status learn(const Rows& rows) {
    StreamReport report;
    return model.learn(backend, rows.view(), &report);
  }
  std::vector<std::byte> snapshot() const {
    std::vector<std::byte> out(model.snapshot_bytes());
    std::size_t size = 0;
    REQUIRE(model.save(out.data(), out.size(), &size).ok());
    return out;
  }
  Status load(const std::vector<std::byte>& bytes) {
    return model.load(bytes.data(), bytes.size());
  }

  Configuration config;
  Model model;
  GuardedMemory memory;
  Arena arena;
  CudaBackend backend;
};

}  // namespace adapvae::testing
