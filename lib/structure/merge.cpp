#include "structure/merge.h"

#include <initializer_list>

namespace adapvae {

void MergeMove::place(Arena& arena, const MixtureConfig& config) {
  merged_.place(arena, config.shape, 1);
  posterior_.mean = arena.take<double>(static_cast<std::size_t>(config.shape.dims));
  posterior_.factor = arena.take<double>(static_cast<std::size_t>(config.shape.scatter_size()));
  mass_ = arena.take<double>(static_cast<std::size_t>(config.max_clusters + 1));
  order_ = arena.take<Index>(static_cast<std::size_t>(config.max_clusters + 1));
}

double MergeMove::gain(const Mixture& mixture, Index a, Index b) {
  const ClusterShape& shape = mixture.config().shape;
  const BaseMeasure& base = mixture.base_measure();
  merged_.copy(0, mixture.totals(), a);
  merged_.add(0, mixture.totals(), b);
  compute_posterior(shape, base, merged_[0], posterior_);
  const auto observed = [&](Index k) {
    return observation_bound(shape, base, mixture.posterior(k), mixture.mass(k));
  };
  const double observation =
      observation_bound(shape, base, posterior_, merged_.mass(0)) - observed(a) - observed(b);
  const Index clusters = mixture.clusters();
  for (Index k = 0; k < clusters; ++k) mass_[k] = mixture.mass(k);
  const double before = allocation_of(mass_, clusters, mixture.concentration(), order_);
  mass_[a] = merged_.mass(0);
  mass_[b] = mass_[clusters - 1];  // perhaps a itself
  const double after = allocation_of(mass_, clusters - 1, mixture.concentration(), order_);
  return observation + after - before + mixture.pair_entropy_loss(a, b);
}

MoveRecord MergeMove::merge_best(Mixture& mixture, double least_gain, Allowed allowed,
                                 const void* context) {
  MoveRecord best;
  best.kind = MoveKind::kMerge;
  best.gain = -1e300;
  mixture.refresh_pairs();
  for (Index a = 1; a < mixture.clusters(); ++a) {
    for (Index b = 0; b < a; ++b) {
      if (allowed != nullptr && !allowed(context, a, b)) continue;
      const double candidate = gain(mixture, a, b);
      if (candidate <= best.gain) continue;
      const bool first_heavier = mixture.mass(a) >= mixture.mass(b);
      best.gain = candidate;
      best.cluster = first_heavier ? a : b;
      best.other = first_heavier ? b : a;
      best.rows = mixture.rows_of(best.other);
    }
  }
  if (!(best.gain > least_gain)) return best;
  mixture.merge_clusters(best.cluster, best.other);
  best.outcome = MoveOutcome::kAccepted;
  return best;
}

MoveRecord MergeMove::retire_lightest(Mixture& mixture, double least_rows) {
  MoveRecord record;
  record.kind = MoveKind::kRetire;
  Index lightest = 0;
  for (Index k = 1; k < mixture.clusters(); ++k) {
    if (mixture.rows_of(k) < mixture.rows_of(lightest)) lightest = k;
  }
  record.other = lightest;
  record.rows = mixture.rows_of(lightest);
  if (mixture.clusters() < 2 || !(record.rows < least_rows)) return record;
  mixture.refresh_pairs();
  return retire(mixture, lightest);
}

MoveRecord MergeMove::retire(Mixture& mixture, Index k) {
  MoveRecord record;
  record.kind = MoveKind::kRetire;
  record.other = k;
  record.rows = mixture.rows_of(k);
  record.gain = -1e300;
  for (Index a = 0; a < mixture.clusters(); ++a) {
    if (a == k) continue;
    const double candidate = gain(mixture, a, k);
    if (candidate <= record.gain) continue;
    record.gain = candidate;
    record.cluster = a;
  }
  mixture.merge_clusters(record.cluster, k);
  record.outcome = MoveOutcome::kAccepted;
  return record;
}

double MergeMove::split_gain(const Mixture& mixture, Index k, const StatisticsRef& first,
                             const StatisticsRef& second) {
  const ClusterShape& shape = mixture.config().shape;
  const BaseMeasure& base = mixture.base_measure();
  const Index clusters = mixture.clusters();
  for (Index j = 0; j < clusters; ++j) mass_[j] = mixture.mass(j);
  double sum = -allocation_of(mass_, clusters, mixture.concentration(), order_) -
               observation_bound(shape, base, mixture.posterior(k), mixture.mass(k));
  mass_[k] = *first.mass;
  mass_[clusters] = *second.mass;
  sum += allocation_of(mass_, clusters + 1, mixture.concentration(), order_);
  for (const StatisticsRef& half : {first, second}) {
    compute_posterior(shape, base, half, posterior_);
    sum += observation_bound(shape, base, posterior_, *half.mass);
  }
  return sum;
}

}  // namespace adapvae
