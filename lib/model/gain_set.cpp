#include "model/gain_set.h"

#include <cstring>
#include <initializer_list>

#include "base/bounds.h"
#include "base/bytes.h"
#include "base/crc64.h"
#include "mixture/mixture.h"

namespace adapvae {
namespace {

constexpr char kMagic[8] = {'A', 'D', 'A', 'P', 'G', 'A', 'I', 'N'};
constexpr std::uint32_t kFormat = 1;
// Far more than there can be; sizes that are worked out from these do not overflow.
constexpr std::uint32_t kMost = 1U << 16;

Status corrupt_gains(Message message) { return {StatusCode::kCorruptData, message}; }

std::uint64_t record_bytes(const GainBase& base, std::uint32_t born) {
  return kGainKeyBytes +
         Mixture::table_bytes(base.shape, std::uint64_t{base.known} + std::uint64_t{born}) +
         std::uint64_t{born} * GainBirth::kBytes;
}

void write_head(const GainBase& base, Index gains, ByteWriter& writer) {
  writer.write_bytes(kMagic, sizeof kMagic);
  writer.write_u32(kFormat);
  writer.write_u32(static_cast<std::uint32_t>(gains));
  for (const std::uint64_t mark : {base.encoder, base.clusters, base.sequence}) {
    writer.write_u64(mark);
  }
  writer.write_u32(base.known);
  writer.write_u32(static_cast<std::uint32_t>(base.shape.dims));
  writer.write_u32(base.shape.covariance == FactorShape::kDiagonal ? 1 : 0);
  writer.write_u32(0);
}

int order_of(const GainView& a, const GainView& b) {
  if (a.worker != b.worker) return a.worker < b.worker ? -1 : 1;
  if (a.sequence != b.sequence) return a.sequence < b.sequence ? -1 : 1;
  return 0;
}

// Sums over the gains of a set.
struct GainTotals {
  std::uint64_t rows = 0;
  Index born = 0;
  Index gains = 0;

  // False if a set cannot have so many.
  bool add(const GainView& gain) {
    if (gain.rows > static_cast<std::uint64_t>(kMostRows) - rows || gain.born > INT32_MAX - born ||
        gains == INT32_MAX) {
      return false;
    }
    rows += gain.rows;
    born += gain.born;
    ++gains;
    return true;
  }
};

}  // namespace

bool GainBase::operator==(const GainBase& other) const {
  return encoder == other.encoder && clusters == other.clusters && sequence == other.sequence &&
         known == other.known && shape.dims == other.shape.dims &&
         shape.covariance == other.shape.covariance;
}

Status GainSet::open(const std::byte* bytes, std::size_t size) {
  ByteReader reader(bytes, size);
  char magic[sizeof kMagic];
  reader.read_bytes(magic, sizeof magic);
  if (!reader.ok() || std::memcmp(magic, kMagic, sizeof magic) != 0) {
    return corrupt_gains("these bytes are no gains");
  }
  if (reader.read_u32() != kFormat) {
    return {StatusCode::kUnavailable, "gains of a newer version of the library"};
  }
  const std::uint32_t gains = reader.read_u32();
  base_.encoder = reader.read_u64();
  base_.clusters = reader.read_u64();
  base_.sequence = reader.read_u64();
  base_.known = reader.read_u32();
  const std::uint32_t dims = reader.read_u32();
  const std::uint32_t diagonal = reader.read_u32();
  const std::uint32_t reserved = reader.read_u32();
  if (!reader.ok() || reader.remaining() < kGainTailBytes) {
    return corrupt_gains("gains are cut short");
  }
  bytes_ = bytes;
  size_ = size - kGainTailBytes;
  ByteReader tail(bytes + size_, kGainTailBytes);
  if (tail.read_u64() != crc64(bytes, size_)) return corrupt_gains("gains: the checksum is wrong");
  if (base_.known > kMost || dims > kMost || diagonal > 1 || gains > INT32_MAX || reserved != 0) {
    return corrupt_gains("gains do not parse");
  }
  base_.shape.dims = static_cast<Index>(dims);
  base_.shape.covariance = diagonal != 0 ? FactorShape::kDiagonal : FactorShape::kLower;
  gains_ = static_cast<Index>(gains);
  GainTotals totals;
  Record record;
  GainView before;
  Place at;
  while (next(at, &record)) {
    const GainView& gain = record.gain;
    if ((at.number > 1 && order_of(before, gain) >= 0) || !totals.add(gain)) {
      return corrupt_gains("gains do not parse");
    }
    before = gain;
  }
  rows_ = totals.rows;
  born_ = totals.born;
  if (at.number != gains_ || at.position != size_ - kGainHeadBytes) {
    return corrupt_gains("gains do not parse");
  }
  return {};
}

bool GainSet::next(Place& at, Record* record) const {
  if (at.number >= gains_) return false;
  ByteReader reader(bytes_ + kGainHeadBytes + at.position, size_ - kGainHeadBytes - at.position);
  record->gain.worker = reader.read_u64();
  record->gain.sequence = reader.read_u64();
  record->gain.rows = reader.read_u64();
  const std::uint32_t born = reader.read_u32();
  const std::uint32_t reserved = reader.read_u32();
  if (!reader.ok() || born > kMost || reserved != 0) return false;
  const std::uint64_t size = record_bytes(base_, born);
  if (size - kGainKeyBytes > reader.remaining()) return false;
  record->bytes = bytes_ + kGainHeadBytes + at.position;
  record->size = static_cast<std::size_t>(size);
  record->gain.born = static_cast<Index>(born);
  record->gain.table = record->bytes + kGainKeyBytes;
  record->gain.bytes = record->size - kGainKeyBytes;
  at.position += record->size;
  ++at.number;
  return true;
}

bool GainSet::next(Place& at, GainView* gain) const {
  Record record;
  if (!next(at, &record)) return false;
  *gain = record.gain;
  return true;
}

std::size_t close_gain(const GainBase& base, const GainView& gain, std::byte* out) {
  const bool empty = gain.rows == 0;
  std::size_t size = kGainHeadBytes;
  ByteWriter head(out, kGainHeadBytes);
  write_head(base, empty ? 0 : 1, head);
  if (!empty) {
    ByteWriter key(out + kGainHeadBytes, kGainKeyBytes);
    for (const std::uint64_t value : {gain.worker, gain.sequence, gain.rows}) key.write_u64(value);
    key.write_u32(static_cast<std::uint32_t>(gain.born));
    key.write_u32(0);
    size += kGainKeyBytes + gain.bytes;
  }
  ByteWriter tail(out + size, kGainTailBytes);
  tail.write_u64(crc64(out, size));
  return size + kGainTailBytes;
}

Status merge_gain_sets(const GainSet& a, const GainSet& b, std::byte* out, std::size_t capacity,
                       std::size_t* size) {
  if (!(a.base() == b.base())) {
    return {StatusCode::kForeign, "gains of different bases cannot be merged"};
  }
  // Once to count, once to write.
  for (const bool write : {false, true}) {
    GainSet::Place places[2];
    GainSet::Record records[2];
    bool left[2] = {a.next(places[0], &records[0]), b.next(places[1], &records[1])};
    std::size_t at = kGainHeadBytes;
    GainTotals totals;
    while (left[0] || left[1]) {
      const int order = !left[1] ? -1 : !left[0] ? 1 : order_of(records[0].gain, records[1].gain);
      if (order == 0 && (records[0].size != records[1].size ||
                         std::memcmp(records[0].bytes, records[1].bytes, records[0].size) != 0)) {
        return {StatusCode::kInvalidArgument,
                "two different gains of one worker and sequence: neither is believed"};
      }
      const GainSet::Record& taken = records[order <= 0 ? 0 : 1];
      if (write) std::memcpy(out + at, taken.bytes, taken.size);
      at += taken.size;
      if (!totals.add(taken.gain)) {
        return {StatusCode::kInvalidArgument,
                "the gains together have more rows than a model can count: apply some first"};
      }
      if (order <= 0) left[0] = a.next(places[0], &records[0]);
      if (order >= 0) left[1] = b.next(places[1], &records[1]);
    }
    *size = at + kGainTailBytes;
    if (out == nullptr) return {};
    if (*size > capacity) {
      return {StatusCode::kOutOfMemory, "the gains do not fit: size says what they take"};
    }
    if (!write) continue;
    ByteWriter head(out, kGainHeadBytes);
    write_head(a.base(), totals.gains, head);
    ByteWriter tail(out + at, kGainTailBytes);
    tail.write_u64(crc64(out, at));
  }
  return {};
}

}  // namespace adapvae
