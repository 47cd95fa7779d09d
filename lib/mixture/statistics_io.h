// Statistics and counts as bytes. Readers are false when what they read is beyond base/bounds.h.
#pragma once

#include "base/bounds.h"
#include "base/bytes.h"
#include "mixture/statistics.h"

namespace adapvae {

void write_values(ByteWriter& writer, const double* values, Index count);
bool read_values(ByteReader& reader, double* values, Index count, double largest = kLargestNumber);

void write_count(ByteWriter& writer, const RowCount& count);
bool read_count(ByteReader& reader, RowCount& count);
bool sound_count(const RowCount& count);

void write_statistics(ByteWriter& writer, const ClusterShape& shape, const StatisticsRef& s);
bool read_statistics(ByteReader& reader, const ClusterShape& shape, const StatisticsRef& s);
// Whether features within the bounds can have such statistics.
bool sound_statistics(const ClusterShape& shape, const StatisticsRef& s);

}  // namespace adapvae
