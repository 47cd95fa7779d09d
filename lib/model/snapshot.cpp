#include "model/snapshot.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "base/bounds.h"
#include "base/decimal.h"

namespace adapvae {
namespace {

constexpr std::string_view kFormatKey = "adapvae.format";
constexpr std::string_view kVersionKey = "adapvae.version";
constexpr std::string_view kConfigPrefix = "config.";

struct CountKey {
  std::string_view key;
  std::uint64_t SnapshotInfo::*at;
};
constexpr CountKey kCounts[] = {
    {"adapvae.streams", &SnapshotInfo::streams},
    {"adapvae.rows", &SnapshotInfo::rows},
    {"adapvae.clusters", &SnapshotInfo::clusters},
    {"adapvae.components", &SnapshotInfo::components},
    {"adapvae.rows_pending", &SnapshotInfo::rows_pending},
    {"adapvae.events", &SnapshotInfo::events},
    {"adapvae.pretrained", &SnapshotInfo::pretrained},
};
constexpr auto kMostCount = static_cast<std::uint64_t>(kMostRows);

struct TimeKey {
  std::string_view key;
  double SnapshotInfo::*at;
};
constexpr TimeKey kTimes[] = {
    {"adapvae.time", &SnapshotInfo::time},
    {"adapvae.time_pending", &SnapshotInfo::time_pending},
};

constexpr std::size_t kNumberBytes = 48;
constexpr std::size_t kOwnEntries = 2 + std::size(kCounts) + std::size(kTimes);

// From end to end, without sign or leading zero.
bool read_count(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= kMostCount &&
         (text.size() == 1 || text[0] != '0');
}

bool read_time(std::string_view text, double& value) {
  return parse_decimal(text, &value) && within(value, kLargestNumber);
}

Status read_format(const TensorReader& reader, std::uint64_t& format) {
  char text[kNumberBytes];
  std::size_t length = 0;
  if (!reader.metadata(kFormatKey, text, sizeof(text), &length).ok() ||
      !read_count({text, length}, format) || format < 1) {
    return corrupt("this is not a snapshot of adapvae: adapvae.format is missing or no number");
  }
  if (format > kSnapshotFormat) {
    return {StatusCode::kUnavailable, "the snapshot's format is newer than this version can read"};
  }
  return {};
}

Status read_field(std::string_view name, std::string_view value, Configuration& config) {
  if (find_field(name) == nullptr) {
    return {StatusCode::kUnavailable,
            "the snapshot has a configuration field that this version does not know"};
  }
  const Status status = set_field_text(config, name, value);
  return status.ok() ? status : Status(StatusCode::kCorruptData, status.message(), status.index());
}

// One entry; what this version does not know is passed over. *found counts those of kCounts and
// kTimes.
Status read_entry(std::string_view key, std::string_view value, SnapshotInfo& info,
                  std::size_t& found) {
  if (key.starts_with(kConfigPrefix)) {
    key.remove_prefix(kConfigPrefix.size());
    return read_field(key, value, info.configuration);
  }
  for (const CountKey& each : kCounts) {
    if (key != each.key) continue;
    ++found;
    if (!read_count(value, info.*each.at)) return corrupt("metadata: a number is not one");
  }
  for (const TimeKey& each : kTimes) {
    if (key != each.key) continue;
    ++found;
    if (!read_time(value, info.*each.at)) return corrupt("metadata: a time is not one");
  }
  if (key == kVersionKey) {
    const std::size_t length = std::min(value.size(), sizeof(info.version) - 1);
    std::copy_n(value.begin(), length, info.version);
  }
  return {};
}

}  // namespace

Status read_snapshot_info(const TensorReader& reader, SnapshotInfo* info) {
  SnapshotInfo result;
  ADAPVAE_RETURN_IF_ERROR(read_format(reader, result.format));
  std::size_t found = 0;
  std::size_t position = 0;
  JsonString key;
  JsonString value;
  char key_text[TensorFileLimits::kNameBytes];
  char value_text[kNumberBytes];
  while (reader.next_metadata(&position, &key, &value)) {
    const std::size_t key_length = key.copy(key_text, sizeof(key_text));
    // Nothing that is read here is longer; no text at all is wrong for all of it.
    const bool fits = value.plain_size <= sizeof(value_text);
    const std::size_t length = fits ? value.copy(value_text, sizeof(value_text)) : 0;
    ADAPVAE_RETURN_IF_ERROR(
        read_entry({key_text, key_length}, {value_text, length}, result, found));
  }
  if (result.format == 1) {
    result.components = result.clusters;  // they have no entry for these
    ++found;
  }
  if (found != std::size(kCounts) + std::size(kTimes)) {
    return corrupt("metadata: a number that every snapshot has is missing");
  }
  const Status status = check_configuration(result.configuration);
  if (!status.ok()) return {StatusCode::kCorruptData, status.message(), status.index()};
  if (result.pretrained > 1) return corrupt("metadata: adapvae.pretrained must be 0 or 1");
  if (result.streams > kMostBlocks) return corrupt("metadata: more streams than can be counted");
  *info = result;
  return {};
}

Status inspect_snapshot(const std::byte* bytes, std::size_t size, SnapshotInfo* info) {
  TensorView views[SnapshotScratch::kMostTensors];
  TensorReader reader;
  ADAPVAE_RETURN_IF_ERROR(reader.open(bytes, size, views));
  ADAPVAE_RETURN_IF_ERROR(reader.verify_checksum());
  return read_snapshot_info(reader, info);
}

void SnapshotScratch::place(Arena& arena, bool writes) {
  views_ = arena.take<TensorView>(kMostTensors);
  if (!writes) return;
  const std::span<const FieldInfo> fields = configuration_fields();
  text_size_ = kOwnEntries * kNumberBytes;
  for (const FieldInfo& field : fields) {
    text_size_ += kConfigPrefix.size() + std::string_view(field.name).size() + kFieldTextBytes;
  }
  text_ = arena.take<char>(text_size_);
  metadata_ = arena.take<MetadataEntry>(fields.size() + kOwnEntries);
  sources_ = arena.take<TensorSource>(kMostTensors);
  names_ = arena.take<char>(kMostTensors * kNameBytes);
}

std::span<const MetadataEntry> SnapshotScratch::metadata(const SnapshotInfo& info) const {
  char* text = text_;
  char* const end = text_ + text_size_;
  std::size_t count = 0;
  const auto number = [&](std::string_view key, auto value) {
    std::size_t length = 0;
    if constexpr (std::is_same_v<decltype(value), double>)
      length = format_shortest(value, text);
    else
      length = static_cast<std::size_t>(std::to_chars(text, end, value).ptr - text);
    metadata_[count++] = {key, {text, length}};
    text += length;
  };
  number(kFormatKey, info.format);
  metadata_[count++] = {kVersionKey, ADAPVAE_VERSION_STRING};
  for (const CountKey& each : kCounts) number(each.key, info.*each.at);
  for (const TimeKey& each : kTimes) number(each.key, info.*each.at);
  for (const FieldInfo& field : configuration_fields()) {
    const std::string_view name = field.name;
    char* const key = text;
    text = std::copy(kConfigPrefix.begin(), kConfigPrefix.end(), text);
    text = std::copy(name.begin(), name.end(), text);
    const std::string_view value =
        format_field(info.configuration, field, {text, static_cast<std::size_t>(end - text)});
    metadata_[count++] = {{key, static_cast<std::size_t>(text - key)}, value};
    text += value.size();
  }
  return {metadata_, count};
}

}  // namespace adapvae
