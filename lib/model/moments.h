// Mean and variance of numbers that come one by one.
#pragma once

#include "base/bytes.h"

namespace adapvae {

struct Moments {
  static constexpr std::size_t kBytes = 3 * 8;

  double rows = 0.0;
  double mean = 0.0;
  double variance = 0.0;

  // A number far from the usual ones counts as if it were less far. Old numbers fade beyond `most`.
  void add(double value, double most);
  void add(const Moments& other);
  void fade(double factor);
  // As if a few numbers of `prior` had been added: an estimate from few rows.
  Moments shrunk_to(const Moments& prior) const;
  // The standard deviation; not 0 for rows that are all alike.
  double deviation() const;
  double deviations(double value) const;  // from the mean

  void write(ByteWriter& writer) const;
  bool read(ByteReader& reader);  // false: out of bounds
};

}  // namespace adapvae
