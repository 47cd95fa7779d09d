// Model: snapshots. What is in one is listed in docs/format.md; nothing else of a model survives
// from one stream to the next.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/bounds.h"
#include "model/model.h"

namespace adapvae {
namespace {

using TensorSize = std::uint64_t;

// ---- the network's tensors ----------------------------------------------------------------------

// "encoder.0.weight"; the view is in out [kNameBytes].
std::string_view parameter_name(std::string_view chain, int layer, std::string_view part,
                                char* out) {
  char* at = std::copy(chain.begin(), chain.end(), out);
  *at++ = '.';
  at = std::to_chars(at, at + 4, layer).ptr;
  *at++ = '.';
  at = std::copy(part.begin(), part.end(), at);
  return {out, static_cast<std::size_t>(at - out)};
}

// use(chain, number, layer) for every layer, encoder first; stops at the first failure.
template <typename Use>
Status for_each_layer(const Vae& vae, const Use& use) {
  for (int i = 0; i < vae.encoder().layers(); ++i) {
    ADAPVAE_RETURN_IF_ERROR(use("encoder", i, vae.encoder().layer(i)));
  }
  for (int i = 0; i < vae.decoder().layers(); ++i) {
    ADAPVAE_RETURN_IF_ERROR(use("decoder", i, vae.decoder().layer(i)));
  }
  return {};
}

// Rows of push(), as check_stream() takes them.
bool rows_within(const TensorView& rows, const Configuration& config) {
  const InputRange range = input_range(config);
  ByteReader reader(rows.data, rows.bytes);
  while (reader.remaining() > 0) {
    Index values = 0;
    for (Index j = 0; j < config.inputs; ++j) {
      const float value = reader.read_f32();
      if (config.missing_values != 0 && std::isnan(value)) continue;
      if (!(value >= range.low && value <= range.high)) return false;
      ++values;
    }
    if (values == 0) return false;
  }
  return true;
}

bool all_within(const TensorView& tensor, float low, float high) {
  ByteReader reader(tensor.data, tensor.bytes);
  while (reader.remaining() > 0) {
    const float value = reader.read_f32();
    if (!(value >= low && value <= high)) return false;
  }
  return true;
}

Status check_layer(const TensorReader& reader, const char* chain, int i, const DenseLayer& layer) {
  char name[SnapshotScratch::kNameBytes];
  const auto inputs = static_cast<TensorSize>(layer.inputs);
  const auto outputs = static_cast<TensorSize>(layer.outputs);
  const TensorView* weight = reader.find(parameter_name(chain, i, "weight", name));
  const TensorView* bias = reader.find(parameter_name(chain, i, "bias", name));
  if (weight == nullptr || bias == nullptr) return corrupt("a layer of the network is missing");
  if (!weight->has_shape(TensorType::kF32, {inputs, outputs}) ||
      !bias->has_shape(TensorType::kF32, {outputs})) {
    return corrupt("a layer of the network has another shape or type");
  }
  constexpr auto kLargest = static_cast<float>(kLargestWeight);
  if (!all_within(*weight, -kLargest, kLargest) || !all_within(*bias, -kLargest, kLargest)) {
    return corrupt("a layer of the network holds a number that is not finite or beyond 1e9");
  }
  return {};
}

// All parameters where they lie in the file, in the order in which the network has them; null if
// they do not lie so: this machine's floats, aligned, one layer behind the other.
const float* parameters_in_place(const TensorReader& reader, const Vae& vae) {
  const TensorView* first = reader.find("encoder.0.weight");
  if (std::endian::native != std::endian::little ||
      reinterpret_cast<std::uintptr_t>(first->data) % alignof(float) != 0) {
    return nullptr;
  }
  const auto* parameters = reinterpret_cast<const float*>(first->data);
  const Status found =
      for_each_layer(vae, [&](const char* chain, int i, const DenseLayer& layer) -> Status {
        char name[SnapshotScratch::kNameBytes];
        const auto lies_at = [&](const char* part, Index at) {
          const std::byte* data = reader.find(parameter_name(chain, i, part, name))->data;
          return data == reinterpret_cast<const std::byte*>(parameters + at);
        };
        if (lies_at("weight", layer.weights) && lies_at("bias", layer.bias)) return {};
        return corrupt("another order");
      });
  return found.ok() ? parameters : nullptr;
}

// ---- the clusters' tensors, written for other readers ----------------------------------------

const ClusterLearner& learner_of(const void* context) {
  return *static_cast<const ClusterLearner*>(context);
}

void fill_state(const void* context, ByteWriter& writer) { learner_of(context).save(writer); }

void fill_ids(const void* context, ByteWriter& writer) {
  const ComponentRegistry& registry = learner_of(context).registry();
  for (Index k = 0; k < registry.components(); ++k) writer.write_u64(registry.info(k).id);
}

void fill_clusters(const void* context, ByteWriter& writer) {
  const ComponentRegistry& registry = learner_of(context).registry();
  for (Index k = 0; k < registry.components(); ++k) writer.write_u64(registry.info(k).cluster);
}

void fill_cluster_ids(const void* context, ByteWriter& writer) {
  const ClusterTable& clusters = learner_of(context).registry().clusters();
  for (Index c = 0; c < clusters.count(); ++c) writer.write_u64(clusters[c].id);
}

void fill_scale(const void* context, ByteWriter& writer) {
  static_cast<const Standardiser*>(context)->save(writer);
}

void fill_novelty(const void* context, ByteWriter& writer) {
  static_cast<const RowNovelty*>(context)->save(writer);
}

void fill_columns(const void* context, ByteWriter& writer) {
  static_cast<const ColumnNovelty*>(context)->save(writer);
}

void fill_names(const void* context, ByteWriter& writer) {
  const ClusterTable& clusters = learner_of(context).registry().clusters();
  for (Index c = 0; c < clusters.count(); ++c) {
    writer.write_bytes(clusters[c].name, Cluster::kNameBytes);
  }
}

void fill_rows(const void* context, ByteWriter& writer) {
  const Mixture& mixture = learner_of(context).mixture();
  for (Index k = 0; k < mixture.clusters(); ++k) writer.write_f64(mixture.rows_of(k));
}

void fill_means(const void* context, ByteWriter& writer) {
  const Mixture& mixture = learner_of(context).mixture();
  for (Index k = 0; k < mixture.clusters(); ++k) {
    for (Index i = 0; i < mixture.config().shape.dims; ++i) {
      writer.write_f64(mixture.posterior(k).mean[i]);
    }
  }
}

void fill_covariances(const void* context, ByteWriter& writer) {
  const Mixture& mixture = learner_of(context).mixture();
  const ClusterShape& shape = mixture.config().shape;
  const bool diagonal = shape.covariance == FactorShape::kDiagonal;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    for (Index i = 0; i < shape.dims; ++i) {
      for (Index j = 0; j < shape.dims; ++j) {
        if (diagonal && j != i) continue;
        writer.write_f64(covariance_at(shape, mixture.posterior(k), i, j));
      }
    }
  }
}

// ---- fitting together ---------------------------------------------------------------------------

// What the clusters' state must agree with; a state that is behind is that of a stream that failed.
struct Rest {
  const SnapshotInfo& info;
  const TensorView& scale_bytes;
  Standardiser& scale;
};

// The scale of the inputs is read here, when the clusters' state has been, and before it is kept:
// so neither changes without the other.
bool state_fits(const void* context, const ClusterLearner& state) {
  const Rest& rest = *static_cast<const Rest*>(context);
  const SnapshotInfo& info = rest.info;
  const auto clusters = static_cast<std::uint64_t>(state.registry().clusters().count());
  const bool fits = static_cast<std::uint64_t>(state.mixture().clusters()) == info.components &&
                    (info.format == 1 || clusters == info.clusters) &&
                    state.streams() <= info.streams &&
                    (state.streams() == 0) == (info.streams == 0) &&
                    (state.streams() == 0 || state.time() <= info.time);
  ByteReader reader(rest.scale_bytes.data, rest.scale_bytes.bytes);
  return fits && rest.scale.load(reader).ok();
}

// Frozen fields are what room was made for.
Status check_same(const Configuration& own, const Configuration& file) {
  for (const FieldInfo& field : configuration_fields()) {
    if (!field.live && get_field(own, field) != get_field(file, field)) {
      return {StatusCode::kInvalidArgument, field.differs, &field - configuration_fields().data()};
    }
  }
  if (replay_wanted(file, file.block_rows) > own.replay_rows) {
    return corrupt("replay_ratio asks for more rows than replay_rows gave room for");
  }
  return {};
}

Status check_block(const TensorView* block, const SnapshotInfo& info) {
  const auto inputs = static_cast<TensorSize>(info.configuration.inputs);
  if (info.rows_pending >= static_cast<std::uint64_t>(info.configuration.block_rows)) {
    return corrupt("as many rows are pending as a stream has");
  }
  if (block == nullptr || !block->has_shape(TensorType::kF32, {info.rows_pending, inputs})) {
    return corrupt("block.rows is missing or has another shape or type");
  }
  if (!rows_within(*block, info.configuration)) {
    return corrupt("block.rows holds a number that is not finite or outside of the inputs' range");
  }
  if (info.rows_pending > 0 && info.streams > 0 && info.time_pending < info.time) {
    return corrupt("pending rows are older than the last stream");
  }
  return {};
}

}  // namespace

// ---- save ---------------------------------------------------------------------------------------

SnapshotInfo Model::snapshot_info() const {
  SnapshotInfo info;
  info.configuration = config_;
  info.streams = stream_;
  info.rows = rows_learnt_;
  info.clusters = static_cast<std::uint64_t>(learner_.registry().clusters().count());
  info.components = static_cast<std::uint64_t>(learner_.mixture().clusters());
  info.rows_pending = static_cast<std::uint64_t>(waiting_);
  info.events = events_.last();
  info.pretrained = pretrained_ ? 1 : 0;
  info.time = time_;
  info.time_pending = waiting_time_;
  return info;
}

// Everything as it would be written, in the scratch memory; nothing is copied yet.
TensorFileContent Model::snapshot_content() const {
  TensorSource* const first = snapshot_.sources();
  TensorSource* next = first;
  char* name = snapshot_.names();
  const auto parameters = [&](const char* chain, int i, const DenseLayer& layer) -> Status {
    const auto inputs = static_cast<TensorSize>(layer.inputs);
    const auto outputs = static_cast<TensorSize>(layer.outputs);
    *next++ = {parameter_name(chain, i, "weight", name),
               TensorType::kF32,
               2,
               {inputs, outputs},
               vae_.parameters() + layer.weights};
    name += SnapshotScratch::kNameBytes;
    *next++ = {parameter_name(chain, i, "bias", name),
               TensorType::kF32,
               1,
               {outputs},
               vae_.parameters() + layer.bias};
    name += SnapshotScratch::kNameBytes;
    return {};
  };
  (void)for_each_layer(vae_, parameters);
  const auto clusters = static_cast<TensorSize>(learner_.registry().clusters().count());
  const auto components = static_cast<TensorSize>(learner_.mixture().clusters());
  const auto m = static_cast<TensorSize>(config_.latent);
  const int dims = learner_.config().shape.covariance == FactorShape::kDiagonal ? 2 : 3;
  const auto block = static_cast<TensorSize>(waiting_);
  const auto inputs = static_cast<TensorSize>(config_.inputs);
  constexpr TensorSize kNameBytes = Cluster::kNameBytes;
  ByteWriter counter(nullptr, 0);
  learner_.save(counter);
  ByteWriter scale(nullptr, 0);
  input_scale_.save(scale);
  *next++ = {"block.rows", TensorType::kF32, 2, {block, inputs}, all_};
  *next++ = {"input.scale", TensorType::kU8, 1, {scale.position()}, nullptr,
             fill_scale,    &input_scale_};
  *next++ = {"novelty.usual", TensorType::kU8, 1, {row_novelty_.bytes()}, nullptr,
             fill_novelty,    &row_novelty_};
  *next++ = {"novelty.columns", TensorType::kU8, 1, {column_novelty_.bytes()}, nullptr,
             fill_columns,      &column_novelty_};
  const auto derived = [&](const TensorSource& tensor) {
    *next = tensor;
    next++->context = &learner_;
  };
  derived({"clusters.id", TensorType::kU64, 1, {clusters}, nullptr, fill_cluster_ids});
  derived({"components.id", TensorType::kU64, 1, {components}, nullptr, fill_ids});
  derived({"components.cluster", TensorType::kU64, 1, {components}, nullptr, fill_clusters});
  derived({"components.rows", TensorType::kF64, 1, {components}, nullptr, fill_rows});
  derived({"components.mean", TensorType::kF64, 2, {components, m}, nullptr, fill_means});
  derived({"components.covariance",
           TensorType::kF64,
           dims,
           {components, m, m},
           nullptr,
           fill_covariances});
  derived({"clusters.name", TensorType::kU8, 2, {clusters, kNameBytes}, nullptr, fill_names});
  derived({"clusters.state", TensorType::kU8, 1, {counter.position()}, nullptr, fill_state});
  return {{first, next}, snapshot_.metadata(snapshot_info())};
}

std::size_t Model::snapshot_bytes() const {
  std::size_t size = 0;
  return tensor_file_size(snapshot_content(), &size).ok() ? size : 0;
}

Status Model::save(std::byte* out, std::size_t capacity, std::size_t* size) const {
  ADAPVAE_RETURN_IF_ERROR(check_whole());
  if (learner_.mixture().stream_open()) return broken_stream();
  return write_tensor_file(snapshot_content(), out, capacity, size);
}

// ---- load ---------------------------------------------------------------------------------------

Status Model::load(const std::byte* bytes, std::size_t size) {
  if (broken_) return broken_stream();
  TensorReader reader;
  SnapshotInfo info;
  ADAPVAE_RETURN_IF_ERROR(reader.open(bytes, size, snapshot_.views()));
  ADAPVAE_RETURN_IF_ERROR(reader.verify_checksum());
  ADAPVAE_RETURN_IF_ERROR(read_snapshot_info(reader, &info));
  ADAPVAE_RETURN_IF_ERROR(check_same(config_, info.configuration));
  ADAPVAE_RETURN_IF_ERROR(
      for_each_layer(vae_, [&](const char* chain, int i, const DenseLayer& layer) {
        return check_layer(reader, chain, i, layer);
      }));
  if (use_ == ModelUse::kScoreInPlace && parameters_in_place(reader, vae_) == nullptr) {
    return {
        StatusCode::kInvalidArgument,
        "weights cannot be used in place: align the snapshot's bytes as floats are, and take it as "
        "it was saved"};
  }
  const TensorView* block = reader.find("block.rows");
  const TensorView* scale = reader.find("input.scale");
  const TensorView* state = reader.find("clusters.state");
  ADAPVAE_RETURN_IF_ERROR(check_block(block, info));
  if (scale == nullptr || scale->type != TensorType::kU8 || scale->dims != 1) {
    return corrupt("input.scale is missing or has another shape or type");
  }
  if (state == nullptr || state->type != TensorType::kU8 || state->dims != 1) {
    return corrupt("clusters.state is missing or has another shape or type");
  }
  ADAPVAE_RETURN_IF_ERROR(check_novelty(reader));
  // The last that can fail; it changes nothing then.
  const Rest rest = {info, *scale, input_scale_};
  ByteReader state_reader(state->data, state->bytes);
  ADAPVAE_RETURN_IF_ERROR(learner_.load(state_reader, {state_fits, &rest}));
  take_snapshot(reader, info);
  if (!learns(use_)) {
    waiting_ = 0;  // nobody will learn them here
    return {};
  }
  block->copy_to(all_);
  return {};
}

// Files of older versions do not have them: novelty is then calibrated anew.
Status Model::check_novelty(const TensorReader& reader) const {
  const TensorView* rows = reader.find("novelty.usual");
  const TensorView* columns = reader.find("novelty.columns");
  if (rows == nullptr && columns == nullptr) return {};
  if (rows == nullptr || rows->type != TensorType::kU8 || rows->dims != 1) {
    return corrupt("novelty.usual is missing or has another shape or type");
  }
  if (columns == nullptr || columns->type != TensorType::kU8 || columns->dims != 1) {
    return corrupt("novelty.columns is missing or has another shape or type");
  }
  ADAPVAE_RETURN_IF_ERROR(column_novelty_.check({columns->data, columns->bytes}));
  return RowNovelty::check({rows->data, rows->bytes}, learner_.config().max_clusters);
}

// What is known to be right.
void Model::take_snapshot(const TensorReader& reader, const SnapshotInfo& info) {
  if (use_ == ModelUse::kScoreInPlace) vae_.borrow_parameters(parameters_in_place(reader, vae_));
  const auto copy = [&](const char* chain, int i, const DenseLayer& layer) -> Status {
    char name[SnapshotScratch::kNameBytes];
    reader.find(parameter_name(chain, i, "weight", name))
        ->copy_to(vae_.parameters() + layer.weights);
    reader.find(parameter_name(chain, i, "bias", name))->copy_to(vae_.parameters() + layer.bias);
    return {};
  };
  if (use_ != ModelUse::kScoreInPlace) (void)for_each_layer(vae_, copy);
  row_novelty_.reset();
  column_novelty_.reset();
  if (const TensorView* novelty = reader.find("novelty.usual"); novelty != nullptr) {
    const TensorView* columns = reader.find("novelty.columns");
    ByteReader row_state(novelty->data, novelty->bytes);
    ByteReader column_state(columns->data, columns->bytes);
    row_novelty_.load(row_state);
    column_novelty_.load(column_state);
  }
  replay_.clear();
  neighbours_.clear();
  config_ = info.configuration;
  learner_.settings() = learner_settings(config_);
  stream_ = static_cast<std::uint32_t>(info.streams);
  rows_learnt_ = info.rows;
  time_ = info.time;
  waiting_ = static_cast<Index>(info.rows_pending);
  waiting_time_ = info.time_pending;
  events_.restart(info.events);
  pretrained_ = info.pretrained != 0;
}

}  // namespace adapvae
