// Agreement of clusters with labels.
#include "handle.h"
#include "model/metrics.h"

using namespace adapvae;
using namespace adapvae::capi;

namespace {

constexpr std::size_t kMostDifferent = 65536;

// Different numbers among values [count], which are sorted on the way.
template <typename T>
std::size_t different(T* values, std::size_t count) {
  std::sort(values, values + count);
  return static_cast<std::size_t>(std::unique(values, values + count) - values);
}

// Memory of one call.
class Temporary {
 public:
  Temporary(const Allocator& allocator, std::size_t bytes)
      : allocator_(allocator),
        bytes_(bytes + Arena::kAlignment),
        memory_(allocator.allocate(allocator.context, bytes_, Arena::kAlignment)) {}
  ~Temporary() {
    if (memory_ != nullptr) {
      allocator_.release(allocator_.context, memory_, bytes_, Arena::kAlignment);
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  bool ok() const { return memory_ != nullptr; }
  // An allocator of the caller's may not have kept to the alignment; malloc does not.
  Arena arena() const {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_);
    const std::size_t slack = (Arena::kAlignment - at % Arena::kAlignment) % Arena::kAlignment;
    return {static_cast<std::byte*>(memory_) + slack, bytes_ - slack};
  }

 private:
  Allocator allocator_;
  std::size_t bytes_;
  void* memory_;
};

Status evaluate(const int32_t* labels, const adapvae_id* ids, std::size_t count,
                const Allocator& allocator, ClusterMetrics* out) {
  constexpr const char* kNoMemory = "the allocator gave no memory";
  std::size_t label_count = 0;
  std::size_t id_count = 0;
  {
    const Temporary memory(allocator, count * sizeof(int32_t));
    if (!memory.ok()) return {StatusCode::kOutOfMemory, kNoMemory};
    auto* sorted = memory.arena().take<int32_t>(count);
    std::copy_n(labels, count, sorted);
    label_count = different(sorted, count);
    std::copy_n(ids, count, reinterpret_cast<adapvae_id*>(sorted));
    id_count = different(reinterpret_cast<adapvae_id*>(sorted), count);
  }
  if (label_count > kMostDifferent || id_count > kMostDifferent) {
    return {StatusCode::kInvalidArgument, "more than 65536 different labels or clusters"};
  }
  ContingencyTable table;
  const auto place = [&](Arena& arena) {
    table.place(arena, static_cast<Index>(label_count), static_cast<Index>(id_count));
  };
  const Temporary memory(allocator, planned_bytes(place));
  if (!memory.ok()) return {StatusCode::kOutOfMemory, kNoMemory};
  Arena arena = memory.arena();
  place(arena);
  table.reset();
  for (std::size_t i = 0; i < count; ++i) {
    ADAPVAE_RETURN_IF_ERROR(table.add(static_cast<std::uint32_t>(labels[i]), ids[i]));
  }
  *out = table.metrics();
  return {};
}

}  // namespace

adapvae_status adapvae_evaluate(const int32_t* labels, const adapvae_id* ids, int32_t count,
                                const adapvae_options* options, adapvae_metrics* metrics,
                                adapvae_error* error) {
  if (metrics == nullptr || !sized(metrics)) {
    return fail(error, ADAPVAE_INVALID_ARGUMENT, "metrics is null or has no struct_size");
  }
  if (count < 1 || labels == nullptr || ids == nullptr) {
    return fail(error, ADAPVAE_INVALID_ARGUMENT, "labels or ids is null, or there are none");
  }
  adapvae_options given;
  Status status = read_options(options, &given);
  ClusterMetrics found;
  if (status.ok()) {
    status = evaluate(labels, ids, static_cast<std::size_t>(count), allocator_of(given), &found);
  }
  if (!status.ok()) return finish(error, status);
  adapvae_metrics value = {};
  value.rows = count;
  value.labels = static_cast<int32_t>(found.labels);
  value.clusters = static_cast<int32_t>(found.clusters);
  value.nmi = found.nmi;
  value.nmi_geometric = found.nmi_geometric;
  value.ari = found.ari;
  value.homogeneity = found.homogeneity;
  value.completeness = found.completeness;
  value.v_measure = found.v_measure;
  value.accuracy = found.accuracy;
  value.purity = found.purity;
  put(metrics, value);
  return finish(error, {});
}
