// Faults of the device, made up by the host device: each becomes a status, and the model stays as
// it was before the call.
#include <string>

#include <doctest/doctest.h>

#include "cuda/device_model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr DeviceCall kCalls[] = {DeviceCall::kCopyIn, DeviceCall::kCopyOut, DeviceCall::kLaunch,
                                 DeviceCall::kFinish};

// Faults are put back whatever happens.
struct FaultGuard {
  ~FaultGuard() { fail_device_at(DeviceCall::kCount, 0); }
};

}  // namespace

TEST_CASE("a device that cannot be opened, or has too little memory, says so and leaks nothing") {
  if (!is_host_device(device_under_test())) return;
  const FaultGuard guard;
  for (const DeviceCall kind :
       {DeviceCall::kOpen, DeviceCall::kAllocate, DeviceCall::kAllocateHost}) {
    const std::int64_t blocks = device_counts().open_blocks;
    fail_device_at(kind, 1);
    CudaBackend backend;
    const Status status = backend.open(
        host_device(), {.limits = {.rows = 4, .widest_layer = 4, .dims = 2, .clusters = 2}});
    CHECK(status.code() ==
          (kind == DeviceCall::kOpen ? StatusCode::kUnavailable : StatusCode::kOutOfMemory));
    CHECK(std::string(status.message()).find("made up") != std::string::npos);
    CHECK(!backend.is_open());
    CHECK(device_counts().open_blocks == blocks);
  }
}

TEST_CASE("a fault at any call during a stream becomes a status, and the model is as before") {
  if (!is_host_device(device_under_test())) return;
  const FaultGuard guard;
  DeviceModel sound(quick_model());
  const Rows first = kinds(0, 1, 60, 1);
  const Rows second = kinds(2, 3, 60, 2);
  REQUIRE(sound.learn(first).ok());
  const std::vector<std::byte> before = sound.snapshot();
  const DeviceCounts counts_before = device_counts();
  REQUIRE(sound.learn(second).ok());
  const DeviceCounts counts_after = device_counts();
  const std::vector<std::byte> after = sound.snapshot();
  CHECK(after != before);
  for (const DeviceCall kind : kCalls) {
    const auto number = static_cast<std::size_t>(kind);
    const std::uint64_t calls = counts_after.of[number] - counts_before.of[number];
    REQUIRE(calls > 10);
    for (const std::uint64_t at : {std::uint64_t{1}, calls / 2, calls}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(at);
      DeviceModel model(quick_model());
      REQUIRE(model.load(before).ok());
      fail_device_at(kind, at);
      const Status status = model.learn(second);
      CHECK(status.code() == StatusCode::kUnavailable);
      CHECK(std::string(status.message()) == "the device is gone (made up)");
      CHECK(model.snapshot() == before);
      // It stays gone: no call computes anything.
      CHECK(!model.learn(second).ok());
      CHECK(model.snapshot() == before);
      fail_device_at(DeviceCall::kCount, 0);
      if (at != 1) continue;
      // Another device takes over where it was.
      REQUIRE(model.open().ok());
      CHECK(model.learn(second).ok());
      CHECK(model.snapshot() == after);
    }
  }
}

TEST_CASE("a fault while scoring is a status") {
  if (!is_host_device(device_under_test())) return;
  const FaultGuard guard;
  DeviceModel model(quick_model());
  const Rows rows = kinds(0, 1, 60, 1);
  REQUIRE(model.learn(rows).ok());
  std::vector<RowResult> results(60);
  for (const DeviceCall kind : kCalls) {
    REQUIRE(model.open().ok());
    fail_device_at(kind, 2);
    CHECK(model.model.score(model.backend, rows.view(), results.data()).code() ==
          StatusCode::kUnavailable);
    fail_device_at(DeviceCall::kCount, 0);
  }
}
