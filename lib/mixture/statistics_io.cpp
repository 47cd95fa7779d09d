#include "mixture/statistics_io.h"

namespace adapvae {

void write_values(ByteWriter& writer, const double* values, Index count) {
  for (Index i = 0; i < count; ++i) writer.write_f64(values[i]);
}

bool read_values(ByteReader& reader, double* values, Index count, double largest) {
  bool sound = true;
  for (Index i = 0; i < count; ++i) {
    values[i] = reader.read_f64();
    sound = sound && within(values[i], largest);
  }
  return sound && reader.ok();
}

void write_count(ByteWriter& writer, const RowCount& count) {
  writer.write_u64(static_cast<std::uint64_t>(count.whole));
  writer.write_u32(static_cast<std::uint32_t>(count.units));
}

bool read_count(ByteReader& reader, RowCount& count) {
  count.whole = static_cast<std::int64_t>(reader.read_u64());
  count.units = reader.read_u32();
  return reader.ok() && sound_count(count);
}

bool sound_count(const RowCount& count) { return count.whole >= 0 && count.whole <= kMostRows; }

void write_statistics(ByteWriter& writer, const ClusterShape& shape, const StatisticsRef& s) {
  writer.write_f64(*s.mass);
  write_values(writer, s.mean, shape.dims);
  write_values(writer, s.scatter, shape.scatter_size());
}

bool read_statistics(ByteReader& reader, const ClusterShape& shape, const StatisticsRef& s) {
  *s.mass = reader.read_f64();
  for (Index i = 0; i < shape.dims; ++i) s.mean[i] = reader.read_f64();
  for (Index i = 0; i < shape.scatter_size(); ++i) s.scatter[i] = reader.read_f64();
  return reader.ok() && sound_statistics(shape, s);
}

bool sound_statistics(const ClusterShape& shape, const StatisticsRef& s) {
  // Twice, for the rounding of means and for a network that moves clusters a little.
  constexpr double kFarthest = 2.0 * kLargestFeature;
  if (!(*s.mass >= 0.0 && *s.mass <= static_cast<double>(kMostRows))) return false;
  const double widest = 4.0 * kFarthest * kFarthest * (1.0 + *s.mass);
  bool sound = true;
  for (Index i = 0; i < shape.dims; ++i) {
    sound = sound && within(s.mean[i], kFarthest) && s.scatter[shape.diagonal_at(i)] >= 0.0;
  }
  for (Index i = 0; i < shape.scatter_size(); ++i) sound = sound && within(s.scatter[i], widest);
  return sound;
}

}  // namespace adapvae
