#include "mixture/statistics_io.h"

#include <cmath>

namespace adapvae {

void write_values(ByteWriter& writer, const double* values, Index count) {
  for (Index i = 0; i < count; ++i) writer.write_f64(values[i]);
}

bool read_values(ByteReader& reader, double* values, Index count) {
  bool finite = true;
  for (Index i = 0; i < count; ++i) {
    values[i] = reader.read_f64();
    finite = finite && std::isfinite(values[i]);
  }
  return finite && reader.ok();
}

void write_count(ByteWriter& writer, const RowCount& count) {
  writer.write_u64(static_cast<std::uint64_t>(count.whole));
  writer.write_u32(static_cast<std::uint32_t>(count.units));
}

bool read_count(ByteReader& reader, RowCount& count) {
  // Far more rows than will ever come; sums of these cannot overflow.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  const std::uint64_t whole = reader.read_u64();
  count.whole = static_cast<std::int64_t>(whole);
  count.units = reader.read_u32();
  return reader.ok() && whole < kMost;
}

void write_statistics(ByteWriter& writer, const ClusterShape& shape, const StatisticsRef& s) {
  writer.write_f64(*s.mass);
  write_values(writer, s.mean, shape.dims);
  write_values(writer, s.scatter, shape.scatter_size());
}

bool read_statistics(ByteReader& reader, const ClusterShape& shape, const StatisticsRef& s) {
  bool sound = read_values(reader, s.mass, 1) && *s.mass >= 0.0;
  sound = read_values(reader, s.mean, shape.dims) && sound;
  sound = read_values(reader, s.scatter, shape.scatter_size()) && sound;
  for (Index i = 0; i < shape.dims; ++i) sound = sound && s.scatter[shape.diagonal_at(i)] >= 0.0;
  return sound;
}

}  // namespace adapvae
