#include "structure/birth.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/special_functions.h"

namespace adapvae {
namespace {

// A candidate may have a half of too few rows until it has so many times as many.
constexpr double kGrowing = 10.0;

constexpr Index kPastPool = 2;  // statistics of both halves together
constexpr Index kPastRare = 3;  // rare rows of earlier blocks

// Expected covariance is B over this.
double covariance_divisor(const ClusterShape& shape, const Posterior& p) {
  const double spare = shape.covariance == FactorShape::kDiagonal
                           ? p.nu - 2.0
                           : p.nu - static_cast<double>(shape.dims) - 1.0;
  return std::max(spare, 1.0);
}

// KL divergence of the Gaussian with p's expected moments from that with q's. scratch [3m].
double divergence(const ClusterShape& shape, const Posterior& p, const Posterior& q,
                  double* scratch) {
  const Index m = shape.dims;
  const double np = covariance_divisor(shape, p);
  const double nq = covariance_divisor(shape, q);
  double sum = q.log_determinant - p.log_determinant +
               static_cast<double>(m) * (std::log(np) - std::log(nq) - 1.0);
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) {
      const double d = p.mean[i] - q.mean[i];
      sum += (p.factor[i] / np + d * d) * nq / q.factor[i];
    }
    return 0.5 * sum;
  }
  double* x = scratch;
  for (Index i = 0; i < m; ++i) x[i] = p.mean[i] - q.mean[i];
  sum += nq * squared_distance(q.factor, m, x, scratch + m);
  // tr(Σq⁻¹ Σp) = |Lq⁻¹ Lp|², column by column.
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) x[i] = i >= j ? p.factor[packed_size(i) + j] : 0.0;
    sum += squared_distance(q.factor, m, x, scratch + m) * nq / np;
  }
  return 0.5 * sum;
}

// Of rows with these statistics from p's mean, by p's expected covariance. scratch [m² + m].
double mean_squared_distance(const ClusterShape& shape, const Posterior& p,
                             const StatisticsRef& rows, double* scratch) {
  const Index m = shape.dims;
  const double divisor = covariance_divisor(shape, p);
  double sum = 0.0;
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) {
      const double d = rows.mean[i] - p.mean[i];
      sum += (d * d + rows.scatter[i] / *rows.mass) * divisor / p.factor[i];
    }
    return sum;
  }
  // tr(Σ⁻¹ S) with Σ⁻¹ = L⁻ᵀ L⁻¹.
  double* inverse = scratch;  // [m × m], row j: L⁻¹ by the j-th unit vector
  double* x = scratch + m * m;
  for (Index j = 0; j < m; ++j) {
    std::fill_n(inverse + j * m, m, 0.0);
    inverse[j * m + j] = 1.0;
    solve_lower(p.factor, m, inverse + j * m);
    x[j] = rows.mean[j] - p.mean[j];
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double precision =
          std::inner_product(inverse + i * m, inverse + (i + 1) * m, inverse + j * m, 0.0);
      const double product = rows.scatter[packed_size(i) + j] / *rows.mass + x[i] * x[j];
      sum += (i == j ? 1.0 : 2.0) * precision * product;
    }
  }
  return sum * divisor;
}

// A row's responsibilities shrink in proportion to what the proposal leaves to the old clusters;
// the fresh pieces get the rest. Whole units, and the same sum as before.
void divide_row(const Proposal& proposal, Index i, Index clusters, double* r) {
  const double kept = proposal.share(i, 0);
  double left = kept;
  Index largest = 0;
  for (Index k = 0; k < clusters; ++k) {
    if (r[k] > r[largest]) largest = k;
  }
  for (Index k = 0; k < clusters; ++k) {
    r[k] = std::floor(r[k] * kept / kResponsibilityUnit) * kResponsibilityUnit;
    left -= r[k];
  }
  r[largest] += left;
  for (Index j = 1; j < proposal.pieces(); ++j) r[clusters + j - 1] = proposal.share(i, j);
}

}  // namespace

void BirthMove::place(Arena& arena, const MixtureConfig& config) {
  shape_ = config.shape;
  const Index m = shape_.dims;
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  proposal_.place(arena, config);
  past_.place(arena, shape_, 4);
  for (Posterior* p : {&trial_, &pool_}) {
    take(p->mean, m);
    take(p->factor, shape_.scatter_size());
  }
  take(mass_, config.max_clusters + Proposal::kMostPieces);
  take(order_, config.max_clusters + Proposal::kMostPieces);
  take(saved_r_, std::min(config.max_rows, kMostRows) * config.max_clusters);
  take(scratch_, division_scratch(shape_));
}

// Everything that can be said before the fit; false if there will be none.
bool BirthMove::start(Mixture& mixture, Index target, Rival rival, Index row_limit, bool again,
                      Index& fresh, const ProposalSettings& settings, MoveRecord& record) {
  record.cluster = target;
  fresh =
      std::min({fresh, Proposal::kMostFresh, mixture.config().max_clusters - mixture.clusters()});
  if (fresh < 1) {
    record.outcome = MoveOutcome::kNoRoom;
    return false;
  }
  if (!again) proposal_.gather_cluster(mixture, target, rival, row_limit, settings);
  record.rows = proposal_.rows_held();
  if (record.rows < settings.least_rows) {
    record.outcome = MoveOutcome::kTooFewRows;
    return false;
  }
  return true;
}

// The bound's parts that a birth out of one cluster changes.
double BirthMove::bound_before(const Mixture& mixture) {
  const Index target = proposal_.target();
  for (Index k = 0; k < mixture.clusters(); ++k) mass_[k] = mixture.mass(k);
  return allocation_of(mass_, mixture.clusters(), mixture.concentration(), order_) +
         observation_bound(shape_, mixture.base_measure(), mixture.posterior(target),
                           mixture.mass(target)) +
         proposal_.entropy_before();
}

// New clusters for the fresh pieces, and the rows' new responsibilities.
void BirthMove::commit(Backend& backend, Mixture& mixture, MoveRecord& record) {
  for (Index j = 1; j < proposal_.pieces(); ++j) {
    const Index born = mixture.add_cluster();
    if (j == 1) record.other = born;
  }
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < proposal_.rows(); ++i) {
    const Index at = proposal_.row(i);
    r(at, proposal_.target()) = proposal_.share(i, 0);
    for (Index j = 1; j < proposal_.pieces(); ++j) {
      r(at, record.other + j - 1) = proposal_.share(i, j);
    }
  }
  if (record.past_divided) {
    mixture.divide_past(proposal_.target(), record.other,
                        past_.mass(1) / (past_.mass(0) + past_.mass(1)), past_[0], past_[1]);
  }
  mixture.recount(backend);
  record.outcome = MoveOutcome::kAccepted;
}

MoveRecord BirthMove::try_cluster(Backend& backend, Mixture& mixture, Index target, Index fresh,
                                  const ProposalSettings& settings, Philox& random, bool again) {
  MoveRecord record;
  if (!start(mixture, target, Rival::kOldCluster, mixture.stream_rows().rows, again, fresh,
             settings, record))
    return record;
  proposal_.fit(backend, mixture, fresh, settings, random);
  if (proposal_.pieces() < 2) {
    record.outcome = MoveOutcome::kNothingSeparated;
    return record;
  }
  record.count = proposal_.pieces() - 1;
  record.gain = proposal_.bound_of_pieces(mixture) - bound_before(mixture);
  if (record.gain > settings.least_gain) commit(backend, mixture, record);
  return record;
}

// ---- division -----------------------------------------------------------------------------------

// What two halves gain over one cluster on the rows that they were gathered from.
double BirthMove::evidence_of_halves(const Mixture& mixture, double entropy_so_far) {
  const Index target = proposal_.target();
  past_.copy(kPastPool, proposal_.statistics(), 0);
  past_.add(kPastPool, proposal_.statistics(), 1);
  compute_posterior(shape_, mixture.base_measure(), past_[kPastPool], pool_);
  for (Index k = 0; k < mixture.clusters(); ++k) mass_[k] = mixture.mass(k);
  mass_[target] = past_.mass(kPastPool);
  return proposal_.bound_of_pieces(mixture) - proposal_.entropy_before() + entropy_so_far -
         observation_bound(shape_, mixture.base_measure(), pool_, past_.mass(kPastPool)) -
         allocation_of(mass_, mixture.clusters(), mixture.concentration(), order_);
}

// The half whose moments the past's are nearest to, or 2 if both together are nearer.
Index BirthMove::where_past_belongs(const Mixture& mixture) {
  compute_posterior(shape_, mixture.base_measure(), mixture.carried()[proposal_.target()], trial_);
  Index best = 2;
  double least = divergence(shape_, trial_, pool_, scratch_);
  for (Index j = 0; j < 2; ++j) {
    const double candidate = divergence(shape_, trial_, proposal_.posterior(j), scratch_);
    if (candidate >= least) continue;
    least = candidate;
    best = j;
  }
  return best;
}

// The bound's gain if the halves' present rows become two clusters and the past goes with them.
double BirthMove::gain_with_past(Backend& backend, const Mixture& mixture, MoveRecord& record) {
  const Index target = proposal_.target();
  const StatisticsRef past = mixture.carried()[target];
  record.past_divided = false;
  if (*past.mass > 0.0) {
    const Index belongs = where_past_belongs(mixture);
    record.past_divided =
        belongs == 2 && divide_statistics(shape_, past, proposal_.statistics()[0],
                                          proposal_.statistics()[1], past_[0], past_[1], scratch_);
    if (belongs == 1) proposal_.make_old(1);
  }
  proposal_.count_present(backend, mixture);
  proposal_.add_to_piece(mixture, 0, proposal_.aside());
  if (record.past_divided) {
    for (Index j = 0; j < 2; ++j) proposal_.add_to_piece(mixture, j, past_[j]);
  } else {
    proposal_.add_to_piece(mixture, 0, past);
  }
  return proposal_.bound_of_pieces(mixture) - bound_before(mixture);
}

MoveRecord BirthMove::try_division(Backend& backend, Mixture& mixture, Index target,
                                   Index row_limit, CandidateDivisions& candidates,
                                   const ProposalSettings& settings, Philox& random) {
  MoveRecord record;
  Index fresh = 1;
  if (!start(mixture, target, Rival::kNothing, row_limit, false, fresh, settings, record))
    return record;
  for (Index j = 0; j < 2; ++j) proposal_.set_fixed(j, candidates.half(target, j));
  proposal_.fit(backend, mixture, fresh, settings, random);
  const StatisticsBlock& halves = proposal_.statistics();
  // Streams may have weighted their rows differently: rows are counted, masses compared.
  const double rows = candidates.rows(target) + proposal_.rows_held();
  const double lighter = std::min(halves.mass(0), halves.mass(1));
  const double of_lighter = rows * lighter / (halves.mass(0) + halves.mass(1));
  // A few rows may still grow to enough.
  const bool too_few = of_lighter < settings.least_rows;
  if (proposal_.pieces() < 2 || (too_few && rows > kGrowing * settings.least_rows)) {
    candidates.clear(target);
    record.outcome = MoveOutcome::kNothingSeparated;
    return record;
  }
  record.count = 1;
  record.gain = evidence_of_halves(mixture, candidates.entropy(target));
  if (too_few || !(record.gain > settings.least_gain)) {
    const double entropy =
        candidates.entropy(target) + proposal_.entropy() - proposal_.entropy_before();
    candidates.set(target, halves[0], halves[1], entropy, rows);
    if (rows > settings.hopeless_rows) candidates.clear(target);
    return record;
  }
  candidates.clear(target);
  record.gain = gain_with_past(backend, mixture, record);
  if (record.gain > settings.least_gain) commit(backend, mixture, record);
  return record;
}

// ---- rare rows ----------------------------------------------------------------------------------

// What two halves gain over one cluster if rows belong to one of them.
double BirthMove::gain_of_halves(const Mixture& mixture, Index target, const StatisticsRef& first,
                                 const StatisticsRef& second) {
  const BaseMeasure& base = mixture.base_measure();
  past_.assign(kPastPool, first);
  add_statistics(shape_, second, 1.0, past_[kPastPool]);
  const Index clusters = mixture.clusters();
  double gain = 0.0;
  for (Index k = 0; k < clusters; ++k) mass_[k] = mixture.mass(k);
  mass_[target] = past_.mass(kPastPool);
  gain -= allocation_of(mass_, clusters, mixture.concentration(), order_);
  mass_[target] = *first.mass;
  mass_[clusters] = *second.mass;
  gain += allocation_of(mass_, clusters + 1, mixture.concentration(), order_);
  for (const auto& [statistics, sign] :
       {std::pair{past_[kPastPool], -1.0}, std::pair{first, 1.0}, std::pair{second, 1.0}}) {
    compute_posterior(shape_, base, statistics, trial_);
    gain += sign * observation_bound(shape_, base, trial_, *statistics.mass);
  }
  return gain;
}

// The sum of squared distances of n rows from a Gaussian's mean, in its own metric, is a χ² of n·m
// degrees of freedom if they are of it: rows that lie apart have a larger one, and rows that lie
// closer together than the others a smaller one.
bool BirthMove::past_is_different(const Mixture& mixture, Index k) {
  constexpr double kByChance = 0.01;
  constexpr double kEnough = 1000.0;  // rows: more tell no more
  const StatisticsRef past = mixture.carried()[k];
  past_.copy(0, mixture.totals(), k);
  if (!remove_statistics(shape_, past, past_[0])) return false;
  compute_posterior(shape_, mixture.base_measure(), past_[0], trial_);
  const auto rows = static_cast<Index>(std::clamp(*past.mass, 1.0, kEnough));
  const double half_sum =
      0.5 * static_cast<double>(rows) * mean_squared_distance(shape_, trial_, past, scratch_);
  const Index dof = rows * shape_.dims;
  return half_sum < half_chi_squared_quantile(dof, 0.5 * kByChance) ||
         half_sum > half_chi_squared_quantile(dof, 1.0 - 0.5 * kByChance);
}

void BirthMove::gather_rare(Mixture& mixture, Index target, const std::uint8_t* far,
                            CandidateDivisions& candidates, const ProposalSettings& settings) {
  const MatrixViewD r = mixture.stream_responsibilities();
  const ConstMatrixView rows = mixture.stream_rows();
  const ConstMatrixView variance = mixture.stream_variance();
  double held = candidates.rows(target);
  for (Index j = 0; j < 2; ++j) past_.assign(j, candidates.half(target, j));
  past_.copy(kPastRare, past_, 1);
  for (Index i = 0; i < r.rows; ++i) {
    const double share = r(i, target);
    if (!(share >= settings.least_share)) continue;
    held += share;
    add_row(shape_, rows.row(i), variance.data != nullptr ? variance.row(i) : nullptr, share,
            mixture.row_weight(), past_[far[i]], scratch_);
  }
  candidates.set(target, past_[0], past_[1], candidates.entropy(target), held);
}

MoveRecord BirthMove::try_rare(Backend& backend, Mixture& mixture, Index target,
                               const std::uint8_t* far, const CandidateDivisions& candidates,
                               const ProposalSettings& settings) {
  MoveRecord record;
  record.cluster = target;
  record.count = 1;
  const StatisticsRef first = candidates.half(target, 0);
  const StatisticsRef second = candidates.half(target, 1);
  record.rows = candidates.rows(target) * *second.mass / (*first.mass + *second.mass);
  if (mixture.clusters() == mixture.config().max_clusters) {
    record.outcome = MoveOutcome::kNoRoom;
    return record;
  }
  if (record.rows < settings.least_rows) {
    record.outcome = MoveOutcome::kTooFewRows;
    return record;
  }
  record.gain = gain_of_halves(mixture, target, first, second);
  if (!(record.gain > settings.least_gain)) return record;
  // The rows of earlier blocks are a part of what the cluster carries.
  past_.assign(0, mixture.carried()[target]);
  record.past_divided = remove_statistics(shape_, past_[kPastRare], past_[0]);
  record.other = mixture.add_cluster();
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < r.rows; ++i) {
    if (far[i] == 0) continue;
    r(i, record.other) = r(i, target);
    r(i, target) = 0.0;
  }
  if (record.past_divided) {
    const double part = past_.mass(kPastRare) / mixture.carried().mass(target);
    mixture.divide_past(target, record.other, part, past_[0], past_[kPastRare]);
  }
  mixture.recount(backend);
  record.outcome = MoveOutcome::kAccepted;
  return record;
}

// ---- rows that nothing explains -----------------------------------------------------------------

MoveRecord BirthMove::try_rows(Backend& backend, Mixture& mixture, const std::uint32_t* rows,
                               const float* log_density, Index count, Index fresh,
                               const ProposalSettings& settings, Philox& random) {
  MoveRecord record;
  count = std::min(count, kMostRows);
  record.rows = static_cast<double>(count);
  fresh =
      std::min({fresh, Proposal::kMostFresh, mixture.config().max_clusters - mixture.clusters()});
  if (fresh < 1) {
    record.outcome = MoveOutcome::kNoRoom;
    return record;
  }
  if (record.rows < settings.least_rows) {
    record.outcome = MoveOutcome::kTooFewRows;
    return record;
  }
  proposal_.gather_rows(mixture, rows, log_density, count);
  record.cluster = proposal_.target();
  proposal_.fit(backend, mixture, fresh, settings, random);
  if (proposal_.pieces() < 2) {
    record.outcome = MoveOutcome::kNothingSeparated;
    return record;
  }
  record.count = proposal_.pieces() - 1;

  // Many clusters change: the move is made, judged, and taken back if the bound fell.
  const double before = mixture.bound().total();
  const Index clusters = mixture.clusters();
  for (Index j = 1; j < proposal_.pieces(); ++j) {
    const Index born = mixture.add_cluster();
    if (j == 1) record.other = born;
  }
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < count; ++i) {
    double* row = r.row(proposal_.row(i));
    std::copy_n(row, clusters, saved_r_ + i * clusters);
    divide_row(proposal_, i, clusters, row);
  }
  mixture.recount(backend);
  record.gain = mixture.bound().total() - before;
  if (record.gain > settings.least_gain) {
    record.outcome = MoveOutcome::kAccepted;
    return record;
  }
  for (Index i = 0; i < count; ++i) {
    std::copy_n(saved_r_ + i * clusters, clusters, r.row(proposal_.row(i)));
  }
  while (mixture.clusters() > clusters) mixture.drop_last_cluster();
  mixture.recount(backend);
  return record;
}

}  // namespace adapvae
