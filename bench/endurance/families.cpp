#include "families.h"

#include <algorithm>
#include <cmath>

namespace endurance {
namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

std::vector<Family> families(bool small) {
  const int many = small ? 60 : 2000;
  const int some = small ? 40 : 500;
  std::vector<Family> all;
  const auto add = [&](const char* name, auto change) {
    Family family;
    family.name = name;
    family.blocks = some;
    change(family);
    all.push_back(family);
  };
  add("stationary", [&](Family& f) { f.blocks = many; });
  add("persistent", [&](Family& f) {
    f.blocks = many;
    f.least_dwell = 20;
    f.most_dwell = 400;
  });
  add("autocorrelated", [&](Family& f) {
    f.blocks = many;
    f.least_dwell = 20;
    f.most_dwell = 400;
    f.correlation = 0.9;
  });
  add("autocorrelated_1000", [&](Family& f) {
    f.blocks = some / 5;
    f.block = 1000;
    f.least_dwell = 20;
    f.most_dwell = 400;
    f.correlation = 0.9;
  });
  add("gradual_drift", [&](Family& f) { f.drift = 40.0; });
  add("abrupt", [&](Family& f) { f.jump_at = some / 2; });
  add("recurring", [&](Family& f) {
    f.blocks = small ? 60 : 1100;
    f.until = 6;
    f.again = small ? 50 : 1006;
  });
  add("standstill", [&](Family& f) {
    f.standstill = true;
    f.moving = 10;
    f.from = some / 2;
  });
  add("burst", [&](Family& f) {
    f.blocks = small ? 40 : 210;
    f.from = 5;
    f.burst = 12;
  });
  add("tiny_blocks", [&](Family& f) {
    f.blocks = small ? 200 : 2000;
    f.tiny_after = 3;
  });
  add("blocks_of_10", [&](Family& f) { f.block = 10; });
  add("blocks_of_50", [&](Family& f) { f.block = 50; });
  add("blocks_of_1000", [&](Family& f) {
    f.block = 1000;
    f.blocks = some / 2;
  });
  add("late_state", [&](Family& f) { f.from = 1; });
  add("later_state", [&](Family& f) { f.from = some / 2; });
  add("stuck_input", [&](Family& f) {
    f.stuck_from = some / 4;
    f.stuck_until = some / 2;
  });
  add("growing_range", [&](Family& f) { f.growth = 5.0; });
  add("seasonal", [&](Family& f) { f.season = 5.0; });
  add("heavy_tails", [&](Family& f) { f.heavy_tails = true; });
  add("two_inputs", [&](Family& f) { f.inputs = 2; });
  add("64_inputs", [&](Family& f) { f.inputs = 64; });
  add("20_states", [&](Family& f) {
    f.inputs = 12;
    f.states = 20;
    f.block = 1000;
    f.blocks = some / 5;
  });
  add("imbalanced", [&](Family& f) { f.rarest = 0.01; });
  return all;
}

Stream::Stream(const Family& family, std::uint64_t seed)
    : family_(family), random_(seed * 7919 + 17) {
  const auto d = static_cast<std::size_t>(family.inputs);
  const int extra = family.jump_at >= 0 || family.standstill ? 1 : 0;
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  // Within a sphere that has room for all of them, none nearer than 20.
  double radius = 15.0;
  while (static_cast<int>(centre_.size()) < family.states + extra) {
    std::vector<double> point(d);
    double norm = 0.0;
    for (double& x : point) {
      x = normal();
      norm += x * x;
    }
    const double length =
        radius * std::pow(unit(random_), 1.0 / static_cast<double>(d)) / std::sqrt(norm);
    for (double& x : point) x *= length;
    radius *= 1.01;
    if (std::all_of(centre_.begin(), centre_.end(),
                    [&](const auto& other) { return distance(point, other) >= 20.0; })) {
      centre_.push_back(point);
      radius = std::max(15.0, radius / 1.01);
    }
  }
  direction_.resize(d);
  double norm = 0.0;
  for (double& x : direction_) {
    x = normal();
    norm += x * x;
  }
  for (double& x : direction_) x /= std::sqrt(norm);
  for (std::size_t j = 0; j < d; ++j) {
    scale_.push_back(std::pow(10.0, 6.0 * unit(random_) - 3.0));
    offset_.push_back(scale_[j] * 200.0 * (unit(random_) - 0.5));
  }
  // At rest a sensor shows its offset and a little noise: state 0 of a standstill.
  if (family.standstill) std::fill(centre_[0].begin(), centre_[0].end(), 0.0);
  state_noise_.assign(d, 0.0);
  for (double& x : state_noise_) x = normal();
}

double Stream::noise() {
  if (!family_.heavy_tails) return normal();
  const double a = normal(), b = normal(), c = normal(), z = normal();
  return z / std::sqrt((a * a + b * b + c * c) / 3.0);
}

bool Stream::present(int state, int number) const {
  const int last = family_.states - 1;
  if (family_.standstill) {
    if (state == 0) return number < family_.moving;
    if (state == family_.states) return number >= family_.from;  // the fault
    return number >= family_.moving;
  }
  if (family_.jump_at >= 0) {
    if (state == family_.states) return number >= family_.jump_at;
    if (state == 0) return number < family_.jump_at;
  }
  if (state != last) return true;
  if (family_.burst > 0) return number == family_.from;
  if (number < family_.from) return false;
  return family_.until < 0 || number < family_.until ||
         (family_.again >= 0 && number >= family_.again);
}

void Stream::choose(int number) {
  std::vector<double> weight;
  for (int s = 0; s < states(); ++s) {
    double w = present(s, number) ? 1.0 : 0.0;
    if (s == family_.states - 1) w *= family_.rarest;
    if (family_.burst > 0 && s == family_.states - 1) w = 0.0;  // dealt out by block()
    if (family_.standstill && s == family_.states && w > 0.0)
      w = family_.states - 1;  // half of the rows
    weight.push_back(w);
  }
  state_ = std::discrete_distribution<int>(weight.begin(), weight.end())(random_);
  left_ = std::uniform_int_distribution<int>(family_.least_dwell, family_.most_dwell)(random_);
}

Row Stream::make(int state, int number, const std::vector<double>& noise) const {
  Row row;
  row.state = state;
  const double part = static_cast<double>(number) / std::max(1, family_.blocks - 1);
  const double move =
      family_.drift * part + family_.season * std::sin(2.0 * 3.14159265358979 * number / 50.0);
  for (std::size_t j = 0; j < noise.size(); ++j) {
    const bool rest = family_.standstill && state == 0;
    double x = centre_[static_cast<std::size_t>(state)][j] + (rest ? 0.02 : 1.0) * noise[j] +
               move * direction_[j];
    if (family_.growth != 1.0 && j + 1 == noise.size()) x *= 1.0 + (family_.growth - 1.0) * part;
    if (j == 0 && number >= family_.stuck_from && number < family_.stuck_until) x = 0.0;
    row.x.push_back(static_cast<float>(offset_[j] + scale_[j] * x));
  }
  return row;
}

std::vector<Row> Stream::block(int number) {
  const auto d = static_cast<std::size_t>(family_.inputs);
  int rows = family_.block;
  if (family_.tiny_after > 0 && number >= family_.tiny_after) {
    rows = std::uniform_int_distribution<int>(1, 3)(random_);
  }
  std::vector<Row> out;
  const double rho = family_.correlation;
  for (int i = 0; i < rows; ++i) {
    if (left_ <= 0 || !present(state_, number)) choose(number);
    --left_;
    for (std::size_t j = 0; j < d; ++j) {
      state_noise_[j] = rho * state_noise_[j] + std::sqrt(1.0 - rho * rho) * noise();
    }
    const bool burst = family_.burst > 0 && number == family_.from && i < family_.burst;
    out.push_back(make(burst ? family_.states - 1 : state_, number, state_noise_));
  }
  return out;
}

std::vector<Row> Stream::probe(int state, int number, int rows) {
  const auto keep = random_;
  random_.seed(static_cast<std::uint64_t>(number) * 1000003 + static_cast<std::uint64_t>(state));
  normal_.reset();
  std::vector<Row> out;
  for (int i = 0; i < rows; ++i) {
    std::vector<double> noises(static_cast<std::size_t>(family_.inputs));
    for (double& x : noises) x = noise();
    out.push_back(make(state, number, noises));
  }
  random_ = keep;
  normal_.reset();
  return out;
}

}  // namespace endurance
