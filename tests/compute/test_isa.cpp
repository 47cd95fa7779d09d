#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "compute/isa.h"
#include "support/test_backends.h"

using namespace adapvae;

namespace {

// Sets ADAPVAE_ISA (null: removes it) and puts back what was there.
class IsaVariable {
 public:
  explicit IsaVariable(const char* value) {
    if (const char* old = std::getenv(kName)) {
      kept_ = old;
      had_one_ = true;
    }
    set(value);
  }
  ~IsaVariable() { set(had_one_ ? kept_.c_str() : nullptr); }
  IsaVariable(const IsaVariable&) = delete;
  IsaVariable& operator=(const IsaVariable&) = delete;

 private:
  static constexpr const char* kName = "ADAPVAE_ISA";
  static void set(const char* value) {
    if (value != nullptr) {
      setenv(kName, value, 1);
    } else {
      unsetenv(kName);
    }
  }
  std::string kept_;
  bool had_one_ = false;
};

const KernelTable* automatic(const char* variable) {
  const IsaVariable set(variable);
  return select_kernels(IsaLevel::kAuto);
}

std::vector<IsaLevel> real_levels() {
  std::vector<IsaLevel> levels;
  for (int i = 1; i < kIsaLevelCount; ++i) levels.push_back(static_cast<IsaLevel>(i));
  return levels;
}

}  // namespace

TEST_CASE("the scalar level is always there") {
  REQUIRE(select_kernels(IsaLevel::kScalar) != nullptr);
  CHECK(std::strcmp(select_kernels(IsaLevel::kScalar)->name, "scalar") == 0);
#if defined(__x86_64__)
  CHECK((select_kernels(IsaLevel::kBaseline) != nullptr) == !kSmallCode);
#endif
#if defined(__aarch64__)
  CHECK((select_kernels(IsaLevel::kNeon) != nullptr) == !kSmallCode);
#endif
}

TEST_CASE("a level that is no level has no kernels") {
  CHECK(select_kernels(static_cast<IsaLevel>(kIsaLevelCount)) == nullptr);
  CHECK(select_kernels(static_cast<IsaLevel>(-1)) == nullptr);
}

TEST_CASE("levels have names of their own, and tables carry them") {
  std::vector<std::string> names = {isa_level_name(IsaLevel::kAuto)};
  for (const IsaLevel level : real_levels()) {
    for (const std::string& other : names) CHECK(other != isa_level_name(level));
    names.emplace_back(isa_level_name(level));
    if (const KernelTable* kernels = select_kernels(level)) {
      CHECK(std::string(kernels->name) == isa_level_name(level));
    }
  }
}

TEST_CASE("without ADAPVAE_ISA the highest level is chosen") {
  const KernelTable* best = nullptr;
  for (const IsaLevel level : real_levels()) {
    if (const KernelTable* kernels = select_kernels(level)) best = kernels;
  }
  CHECK(automatic(nullptr) == best);
}

TEST_CASE("ADAPVAE_ISA chooses a level by name if it can be had") {
  const KernelTable* best = automatic(nullptr);
  for (const IsaLevel level : real_levels()) {
    CAPTURE(isa_level_name(level));
    const KernelTable* kernels = select_kernels(level);
    CHECK(automatic(isa_level_name(level)) == (kernels != nullptr ? kernels : best));
  }
}

TEST_CASE("ADAPVAE_ISA with an unknown name changes nothing") {
  const KernelTable* best = automatic(nullptr);
  for (const char* name : {"", "auto", "unknown", "AVX2", "avx", "avx2 ", "scalars", "1"}) {
    CAPTURE(name);
    CHECK(automatic(name) == best);
  }
}

TEST_CASE("ADAPVAE_ISA does not touch a level that was asked for") {
  const IsaVariable set("scalar");
  for (const IsaLevel level : real_levels()) {
    if (const KernelTable* kernels = select_kernels(level)) {
      CHECK(std::string(kernels->name) == isa_level_name(level));
    }
  }
}

TEST_CASE("every table is complete and has sensible sizes") {
  for (const KernelTable* kernels : test_kernels()) {
    CAPTURE(kernels->name);
    CHECK(kernels->tile_rows >= 1);
    CHECK(kernels->tile_rows <= 32);
    CHECK(kernels->tile_cols >= 1);
    CHECK(kernels->tile_cols <= 8 * kMaxLanes);
    CHECK(kernels->depth_block >= 16);
    CHECK(kernels->depth_block <= 4096);
    // Whole tiles in a row block: the split into blocks then cuts no tile.
    CHECK(kernels->row_block >= kernels->tile_rows);
    CHECK(kernels->row_block % kernels->tile_rows == 0);
    CHECK((kernels->pack_a != nullptr) == !kSmallCode);
    CHECK((kernels->pack_b != nullptr) == !kSmallCode);
    CHECK((kernels->gemm_block != nullptr) == !kSmallCode);
    CHECK((kernels->gemm_small != nullptr));
    CHECK((kernels->column_sums != nullptr));
    CHECK((kernels->reconstruct != nullptr));
    CHECK((kernels->softmax_rows != nullptr));
    CHECK((kernels->mahalanobis != nullptr));
    CHECK((kernels->mahalanobis_pull != nullptr));
    CHECK((kernels->divide_rows != nullptr));
    CHECK((kernels->weighted_moments != nullptr));
    CHECK((kernels->adam != nullptr));
    CHECK((kernels->squared_norm != nullptr));
  }
}

TEST_CASE("a backend carries its level's name, fits its plan and has no failure to report") {
  for (const KernelTable* kernels : test_kernels()) {
    const ComputeLimits limits = {.rows = 10, .widest_layer = 20, .dims = 3, .clusters = 4};
    for (const auto& backend : make_test_backends(*kernels, limits)) {
      CHECK(std::string((*backend)->name()).starts_with(kernels->name));
      CHECK((*backend)->status().ok());
      CHECK(backend->memory_intact());
    }
  }
}
