#include "structure/alias_table.h"

#include <algorithm>

namespace adapvae {

ClusterId read_id(ByteReader& reader) {
  return static_cast<ClusterId>(std::min<std::uint64_t>(reader.read_u64(), kMostIds + 1));
}

void AliasTable::place(Arena& arena, Index most) {
  most_ = most;
  alias_ = arena.take<Alias>(static_cast<std::size_t>(most));
}

void AliasTable::bury(ClusterId dead, ClusterId heir) {
  for (Index i = 0; i < count_; ++i) {
    if (alias_[i].heir == dead) alias_[i].heir = heir;
  }
  if (dead == kNoId || most_ == 0) return;
  if (count_ == most_) {
    if (dead < alias_[0].dead) return;  // itself the oldest
    std::copy(alias_ + 1, alias_ + count_, alias_);
    --count_;
  }
  Index at = count_++;
  for (; at > 0 && alias_[at - 1].dead > dead; --at) alias_[at] = alias_[at - 1];
  alias_[at] = {dead, heir};
}

ClusterId AliasTable::resolve(ClusterId dead) const {
  const Alias* begin = alias_;
  const Alias* end = alias_ + count_;
  const Alias* at = std::lower_bound(
      begin, end, dead, [](const Alias& alias, ClusterId id) { return alias.dead < id; });
  return at != end && at->dead == dead ? at->heir : kNoId;
}

void AliasTable::save(ByteWriter& writer) const {
  writer.write_u32(static_cast<std::uint32_t>(count_));
  for (Index i = 0; i < count_; ++i) {
    writer.write_u64(alias_[i].dead);
    writer.write_u64(alias_[i].heir);
  }
}

}  // namespace adapvae
