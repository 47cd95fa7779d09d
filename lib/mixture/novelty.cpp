#include "mixture/novelty.h"

#include <algorithm>
#include <cmath>

#include "base/bounds.h"

namespace adapvae {
namespace {

// Buckets are even near the origin (about 1/20 of a deviation) and grow with distance: bucket b
// begins at origin + deviation · sinh((b - middle) / kFineness).
constexpr double kFineness = 20.0;
constexpr double kMiddle = NoveltyScale::kBuckets / 2.0;

}  // namespace

void NoveltyScale::reset(Index dims) {
  deviation_ = std::sqrt(0.5 * static_cast<double>(dims));
  clear();
}

void NoveltyScale::clear() {
  rows_ = 0.0;
  origin_ = 0.0;
  std::fill_n(counts_, kBuckets, 0.0F);
}

void NoveltyScale::count(double surprise, double expected, const NoveltySettings& settings) {
  if (rows_ == 0.0) origin_ = expected;
  // All fade together, when the memory is full: cheaper than a little at every row.
  if (rows_ + 1.0 > settings.memory_rows) fade_to(0.5 * rows_);
  counts_[bucket_of(surprise)] += 1.0F;
  rows_ += 1.0;
}

void NoveltyScale::uncount(double surprise) {
  float& count = counts_[bucket_of(surprise)];
  const float taken = std::min(count, 1.0F);  // it may have faded since
  count -= taken;
  rows_ -= static_cast<double>(taken);
}

void NoveltyScale::fade_to(double rows) {
  if (!(rows_ > rows)) return;
  const auto factor = static_cast<float>(rows / rows_);
  rows_ = 0.0;
  for (float& c : counts_) {
    c *= factor;
    rows_ += static_cast<double>(c);
  }
}

Index NoveltyScale::bucket_of(double surprise) const {
  const double place = kMiddle + kFineness * std::asinh((surprise - origin_) / deviation_);
  return static_cast<Index>(std::clamp(place, 0.0, static_cast<double>(kBuckets - 1)));
}

double NoveltyScale::quantile(double part) const {
  double above = (1.0 - part) * rows_;
  for (Index b = kBuckets - 1; b >= 0; --b) {
    const double here = counts_[b];
    if (here > 0.0 && above <= here) {
      // As if rows lay evenly within the bucket.
      const double place = static_cast<double>(b) + 1.0 - above / here;
      return origin_ + deviation_ * std::sinh((place - kMiddle) / kFineness);
    }
    above -= here;
  }
  return origin_ + deviation_ * std::sinh(-kMiddle / kFineness);
}

double NoveltyScale::fraction_above(double surprise) const {
  const Index at = bucket_of(surprise);
  float above = 0.5F * counts_[at];
  for (Index b = at + 1; b < kBuckets; ++b) above += counts_[b];
  return static_cast<double>(above) / rows_;
}

double NoveltyScale::boundary(double theory, const NoveltySettings& settings) const {
  // Theory counts as much as the rows that would hold two false alarms.
  const double prior_rows = 2.0 / settings.false_alarm_rate;
  const double weight = rows_ / (rows_ + prior_rows);
  const double seen = rows_ > 0.0 ? quantile(1.0 - settings.false_alarm_rate) : theory;
  return weight * seen + (1.0 - weight) * theory - deviation_ * std::log(settings.sensitivity);
}

float NoveltyScale::novelty(double surprise, double boundary) const {
  return static_cast<float>(1.0 / (1.0 + std::exp((boundary - surprise) / deviation_)));
}

void NoveltyScale::save(ByteWriter& writer) const {
  writer.write_f64(rows_);
  writer.write_f64(origin_);
  for (const float c : counts_) writer.write_f32(c);
}

bool NoveltyScale::sound() const {
  double sum = 0.0;
  bool sound = within(origin_, kLargestNumber);
  for (const float count : counts_) {
    sound = sound && count >= 0.0F && within(count, static_cast<double>(kMostRows));
    sum += static_cast<double>(count);
  }
  return sound && std::fabs(rows_ - sum) <= 1e-6 * sum;
}

Status NoveltyScale::check(ByteReader reader) {
  const double rows = reader.read_f64();
  const double origin = reader.read_f64();
  bool sound = within(origin, kLargestNumber);
  double sum = 0.0;
  for (Index b = 0; b < kBuckets; ++b) {
    const float count = reader.read_f32();
    sound = sound && count >= 0.0F && within(count, static_cast<double>(kMostRows));
    sum += static_cast<double>(count);
  }
  if (!reader.ok() || !sound || !(std::fabs(rows - sum) <= 1e-6 * sum)) {
    return {StatusCode::kCorruptData, "novelty scale does not parse"};
  }
  return {};
}

Status NoveltyScale::load(ByteReader& reader) {
  ADAPVAE_RETURN_IF_ERROR(check(reader));
  rows_ = reader.read_f64();
  origin_ = reader.read_f64();
  for (float& c : counts_) c = reader.read_f32();
  return {};
}

}  // namespace adapvae
