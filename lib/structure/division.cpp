#include "structure/division.h"

#include <cmath>

#include "mixture/statistics_io.h"

namespace adapvae {

void CandidateDivisions::place(Arena& arena, const MixtureConfig& config) {
  shape_ = config.shape;
  capacity_ = config.max_clusters;
  halves_.place(arena, shape_, 2 * capacity_);
  entropy_ = arena.take<double>(static_cast<std::size_t>(capacity_));
}

void CandidateDivisions::reset() {
  for (Index k = 0; k < capacity_; ++k) clear(k);
}

void CandidateDivisions::clear(Index k) {
  halves_.clear(2 * k);
  halves_.clear(2 * k + 1);
  entropy_[k] = 0.0;
}

void CandidateDivisions::set(Index k, const StatisticsRef& first, const StatisticsRef& second,
                             double entropy) {
  halves_.assign(2 * k, first);
  halves_.assign(2 * k + 1, second);
  entropy_[k] = entropy;
}

void CandidateDivisions::move(Index from, Index to) {
  if (from != to) set(to, half(from, 0), half(from, 1), entropy_[from]);
  clear(from);
}

void CandidateDivisions::save(ByteWriter& writer, Index clusters) const {
  for (Index k = 0; k < clusters; ++k) {
    writer.write_f64(entropy_[k]);
    for (Index which = 0; which < 2; ++which) write_statistics(writer, shape_, half(k, which));
  }
}

Status CandidateDivisions::load(ByteReader& reader, Index clusters) {
  for (Index k = 0; k < clusters; ++k) {
    entropy_[k] = reader.read_f64();
    bool sound = std::isfinite(entropy_[k]);
    for (Index which = 0; which < 2; ++which) {
      sound = read_statistics(reader, shape_, half(k, which)) && sound;
    }
    if (!sound) return {StatusCode::kCorruptData, "candidate divisions do not parse"};
  }
  return {};
}

}  // namespace adapvae
