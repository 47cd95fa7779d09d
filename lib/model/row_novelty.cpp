#include "model/row_novelty.h"

#include <algorithm>
#include <cmath>

#include "base/bounds.h"
#include "base/special_functions.h"

namespace adapvae {
namespace {

// An error far below the usual one says little: a blank row is easily reconstructed.
constexpr double kLeastDeviations = -3.0;
// A number farther out than this moves the mean as if it were there.
constexpr double kOutlier = 4.0;
// What is usual of a cluster follows slow changes: older rows fade.
constexpr double kMostRowsOfCluster = 5000.0;
// Rows of a cluster on which the network is trained in any case.
constexpr double kEnoughTraining = 200.0;
// Of no cluster more than so many times the false-alarm rate is novel.
constexpr double kMostOfCluster = 3.0;

// Flags of a snapshot.
constexpr std::uint64_t kTrained = 1;
constexpr std::uint64_t kOnlyLearnt = 2;

double square(double x) { return x * x; }

}  // namespace

void RowNovelty::place(Arena& arena, Index dims, double error_weight, bool nats, Index rows,
                       Index clusters) {
  dims_ = dims;
  weight_ = error_weight;
  nats_ = nats;
  usual_ = arena.take<Usual>(static_cast<std::size_t>(clusters));
  spare_ = arena.take<Usual>(static_cast<std::size_t>(rows > 0 ? clusters : 0));
  const auto size = static_cast<std::size_t>(rows);
  cluster_ = arena.take<Index>(size);
  for (float** array : {&misfit_, &errors_, &surprise_, &misfit_after_, &error_after_}) {
    *array = arena.take<float>(size);
  }
  newborn_ = arena.take<std::uint8_t>(size);
}

void RowNovelty::reset() {
  scale_.reset(2);  // surprises have a standard deviation of about 1
  clusters_ = 0;
  trained_ = false;
  only_learnt_ = false;
  all_ = {};
  surprises_ = {};
  boundary_rate_ = 0.0;
}

// What a standard deviation of errors counts.
double RowNovelty::error_scale() const {
  return weight_ * (nats_ ? std::min(1.0, all_.error.deviation() / all_.misfit.deviation()) : 1.0);
}

double RowNovelty::error_surprise(double error) const {
  if (!uses_errors()) return 0.0;
  return error_scale() * std::max(all_.error.deviations(error), kLeastDeviations);
}

Moments RowNovelty::surprises_of(const Usual& usual) const {
  const Moments misfit = usual.misfit.shrunk_to(all_.misfit);
  Moments out = {.rows = usual.misfit.rows,
                 .mean = feature_surprise(misfit.mean),
                 .variance = square(misfit.deviation() / all_.misfit.deviation())};
  if (!uses_errors()) return out;
  const Moments error = usual.error.shrunk_to(all_.error);
  out.mean += error_surprise(error.mean);
  out.variance += square(error_scale() * error.deviation() / all_.error.deviation());
  return out;
}

// Numbers change only with a block or a correction, so that a cluster is almost always where it
// was.
const RowNovelty::Usual& RowNovelty::usual_of(Index k, ClusterId id) const {
  if (k < clusters_ && usual_[k].id == id) return usual_[k];
  const Usual* begin = usual_;
  const Usual* end = usual_ + clusters_;
  const Usual* at = std::find_if(begin, end, [id](const Usual& u) { return u.id == id; });
  return at != end ? *at : nothing_;
}

// The fraction of a cluster's rows whose surprise lies more standard deviations above its mean.
// Before many rows have been counted, that of half a χ² of m degrees of freedom has a say.
double RowNovelty::tail(double deviations, double rate) const {
  const double prior_rows = 2.0 / rate;  // which would hold two false alarms
  const double weight = scale_.rows() / (scale_.rows() + prior_rows);
  const double counted = scale_.rows() > 0.0 ? weight * scale_.fraction_above(deviations) : 0.0;
  constexpr double kEnough = 0.95;
  if (weight > kEnough) return counted / weight;
  const double mean = 0.5 * static_cast<double>(dims_);
  return counted +
         (1.0 - weight) * half_chi_squared_above(dims_, mean + deviations * std::sqrt(mean));
}

// The boundary for all clusters, and relief_.
double RowNovelty::find_boundary(double rate) const {
  constexpr int kSteps = 20;
  const double mean = 0.5 * static_cast<double>(dims_);
  const double most = std::min(kMostOfCluster * rate, 0.5);
  const double theory = (half_chi_squared_quantile(dims_, 1.0 - most) - mean) / std::sqrt(mean);
  relief_ = scale_.boundary(theory, {.false_alarm_rate = most});
  double low = -10.0;  // standard deviations
  double high = 100.0;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = 0.5 * (low + high);
    double above = 0.0;
    for (Index k = 0; k < clusters_; ++k) {
      const Moments own = surprises_of(usual_[k]);
      above += own.rows * (tail(std::max(own.deviations(middle), relief_), rate) - rate);
    }
    (above > 0.0 ? low : high) = middle;
  }
  return high;
}

double RowNovelty::boundary(Index k, ClusterId id, const NoveltySettings& settings) const {
  if (boundary_rate_ != settings.false_alarm_rate) {
    boundary_ = find_boundary(settings.false_alarm_rate);
    boundary_rate_ = settings.false_alarm_rate;
  }
  const Moments own = surprises_of(usual_of(k, id));
  return std::max(boundary_, own.mean + relief_ * own.deviation()) - std::log(settings.sensitivity);
}

// Clusters have other numbers after a block, some are new, and some are parts of others.
void RowNovelty::follow_clusters(const ClusterTable& clusters) {
  for (Index k = 0; k < clusters.count(); ++k) {
    spare_[k] = {};
    spare_[k].id = clusters[k].id;
  }
  for (Index old = 0; old < clusters_; ++old) {
    const auto id = static_cast<ClusterId>(usual_[old].id);
    const Index k = clusters.find(clusters.resolve(id));
    if (k < 0) continue;
    spare_[k].misfit.add(usual_[old].misfit);
    spare_[k].error.add(usual_[old].error);
    spare_[k].untrained.add(usual_[old].untrained);
    spare_[k].trained_rows =
        std::min(spare_[k].trained_rows + usual_[old].trained_rows, kMostRowsOfCluster);
  }
  std::copy_n(spare_, clusters.count(), usual_);
  clusters_ = clusters.count();
}

void RowNovelty::count(const ClusterTable& clusters, Index rows, bool trained, bool arrived,
                       double most, const NoveltySettings& settings) {
  const bool errors = wants_errors();
  follow_clusters(clusters);
  // The network reconstructs rows that it was trained on better than others.
  if (!arrived) only_learnt_ = errors;
  if (arrived && only_learnt_ && static_cast<double>(rows) >= kLeastRows) forget_learnt();
  trained_ = trained;
  if (trained) {
    const double factor = std::min(1.0, most / std::max(all_.misfit.rows, 1.0));
    for (Index k = 0; k < clusters_; ++k) {
      usual_[k].misfit.fade(factor);
      usual_[k].error.fade(factor);
      usual_[k].untrained = {};
    }
    all_.misfit.fade(factor);
    all_.error.fade(factor);
    scale_.fade_to(most);
  }
  for (Index i = 0; i < rows; ++i) {
    Usual& own = usual_[cluster_[i]];
    if (trained) own.trained_rows = std::min(own.trained_rows + 1.0, kMostRowsOfCluster);
    if (errors && arrived) own.untrained.add(static_cast<double>(errors_[i]), kMostRowsOfCluster);
  }
  choose(rows, arrived, misfit_after_, misfit_);
  if (errors) choose(rows, arrived, error_after_, errors_);
  for (Index i = 0; i < rows; ++i) {
    Usual& own = usual_[cluster_[i]];
    const auto misfit = static_cast<double>(misfit_[i]);
    own.misfit.add(misfit, kMostRowsOfCluster);
    all_.misfit.add(misfit, settings.memory_rows);
    if (!errors) continue;
    const auto error = static_cast<double>(errors_[i]);
    own.error.add(error, kMostRowsOfCluster);
    all_.error.add(error, settings.memory_rows);
  }
  boundary_rate_ = 0.0;
  for (Index i = 0; i < rows; ++i) {
    scale_.count(deviations(clusters, i), 0.0, settings);
    surprises_.add(surprise(i), settings.memory_rows);
  }
}

Index RowNovelty::reconstructed_worse(Index rows, double* rise) const {
  const auto standardised = [this](float error) {
    return std::clamp(all_.error.deviations(static_cast<double>(error)), -kOutlier, kOutlier);
  };
  Index worse = 0;
  double sum = 0.0;
  for (Index i = 0; i < rows; ++i) {
    worse += error_after_[i] > errors_[i] ? 1 : 0;
    sum += standardised(error_after_[i]) - standardised(errors_[i]);
  }
  *rise = sum / std::max(static_cast<double>(rows), 1.0);
  return worse;
}

void RowNovelty::forget_learnt() {
  for (Index k = 0; k < clusters_; ++k) usual_[k].error = {};
  all_.error = {};
  surprises_ = {};
  scale_.clear();
  only_learnt_ = false;
}

// Which of a row's two numbers counts, to `value`, which has the one on arrival.
void RowNovelty::choose(Index rows, bool arrived, const float* after, float* value) const {
  Index worse = 0;
  for (Index i = 0; i < rows; ++i) {
    if (!arrived || newborn_[i] != 0) value[i] = after[i];
    worse += after[i] > value[i] ? 1 : 0;
  }
  if (2 * worse > rows) std::copy_n(after, rows, value);
}

// Of row i of the block.
double RowNovelty::surprise(Index i) const {
  return feature_surprise(misfit_[i]) + error_surprise(errors_[i]);
}

// Of row i of the block: its surprise in standard deviations of its cluster's.
double RowNovelty::deviations(const ClusterTable& clusters, Index i) const {
  const Index k = cluster_[i];
  return surprises_of(usual_of(k, clusters[k].id)).deviations(surprise(i));
}

void RowNovelty::compare(const ClusterTable& clusters, Index rows, BlockTest& test) const {
  Index unlearnt = 0;
  for (Index i = 0; i < rows; ++i) {
    surprise_[i] = static_cast<float>(deviations(clusters, i));
    const Usual& own = usual_of(cluster_[i], clusters[cluster_[i]].id);
    unlearnt += own.trained_rows < kEnoughTraining ? 1 : 0;
  }
  test.compare(scale_, surprise_);
  test.note_unlearnt(unlearnt);
  if (!trained_ || !wants_errors()) return;
  // Every cluster's rows beside its own of the block before.
  double sum = 0.0;
  double compared = 0.0;
  double variance = 0.0;
  for (Index k = 0; k < clusters.count(); ++k) {
    const Moments& untrained = usual_of(k, clusters[k].id).untrained;
    constexpr double kLeastRowsBefore = 3.0;
    if (untrained.rows < kLeastRowsBefore) continue;
    double own = 0.0;
    for (Index i = 0; i < rows; ++i) {
      if (cluster_[i] != k) continue;
      sum += std::clamp(untrained.deviations(errors_[i]), -kOutlier, kOutlier);
      own += 1.0;
    }
    compared += own;
    variance += own * own / untrained.rows;
  }
  if (compared > 0.0) {
    test.compare_errors(sum / compared, compared, variance / (compared * compared));
  }
}

// ---- persistent state ---------------------------------------------------------------------------

std::size_t RowNovelty::bytes() const {
  return 16 + Moments::kBytes + kUsualBytes * static_cast<std::size_t>(clusters_ + 1) +
         NoveltyScale::most_bytes();
}

void RowNovelty::write(const Usual& usual, ByteWriter& writer) {
  writer.write_u64(usual.id);
  writer.write_f64(usual.trained_rows);
  for (const Moments* moments : {&usual.misfit, &usual.error, &usual.untrained}) {
    moments->write(writer);
  }
}

bool RowNovelty::read(ByteReader& reader, Usual& usual) {
  usual.id = reader.read_u64();
  usual.trained_rows = reader.read_f64();
  bool sound =
      usual.id <= kMostIds && usual.trained_rows >= 0.0 && usual.trained_rows <= kMostRowsOfCluster;
  for (Moments* moments : {&usual.misfit, &usual.error, &usual.untrained}) {
    sound = moments->read(reader) && sound;
  }
  return sound;
}

void RowNovelty::save(ByteWriter& writer) const {
  writer.write_u64(static_cast<std::uint64_t>(clusters_));
  writer.write_u64((trained_ ? kTrained : 0) | (only_learnt_ ? kOnlyLearnt : 0));
  surprises_.write(writer);
  write(all_, writer);
  for (Index k = 0; k < clusters_; ++k) write(usual_[k], writer);
  scale_.save(writer);
}

Status RowNovelty::check(ByteReader reader, Index most_clusters) {
  const std::uint64_t clusters = reader.read_u64();
  bool sound = clusters <= static_cast<std::uint64_t>(most_clusters) &&
               reader.read_u64() <= (kTrained | kOnlyLearnt);
  Moments surprises;
  sound = surprises.read(reader) && sound;
  Usual usual;
  for (std::uint64_t k = 0; sound && k <= clusters; ++k) sound = read(reader, usual);
  if (!reader.ok() || !sound || reader.remaining() != NoveltyScale::most_bytes()) {
    return {StatusCode::kCorruptData, "novelty.usual does not parse"};
  }
  return NoveltyScale::check(reader);
}

void RowNovelty::load(ByteReader& reader) {
  clusters_ = static_cast<Index>(reader.read_u64());
  const std::uint64_t flags = reader.read_u64();
  trained_ = (flags & kTrained) != 0;
  only_learnt_ = (flags & kOnlyLearnt) != 0;
  (void)surprises_.read(reader);
  (void)read(reader, all_);
  for (Index k = 0; k < clusters_; ++k) (void)read(reader, usual_[k]);
  (void)scale_.load(reader);
  boundary_rate_ = 0.0;
}

}  // namespace adapvae
