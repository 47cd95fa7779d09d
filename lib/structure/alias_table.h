// Which id stands for an id that is gone. Memory is bounded: when the table is full, the ids that
// were given first are dropped first.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

using ClusterId = std::uint32_t;
constexpr ClusterId kNoId = 0;
// A birth a second for 68 years.
constexpr ClusterId kMostIds = ClusterId{1} << 31;

// Numbers from 1, each given once. A correction that is undone takes its number back from the file,
// but this object does not give it again.
class IdCounter {
 public:
  void reset() { *this = {}; }
  ClusterId give() {
    if (next_ <= highest_) next_ = highest_ + 1;
    highest_ = next_;
    return next_++;
  }
  ClusterId next() const { return next_; }
  ClusterId highest() const { return highest_; }
  void set_next(ClusterId next) { next_ = next; }
  void set_highest(ClusterId highest) { highest_ = highest; }

 private:
  ClusterId next_ = 1;
  ClusterId highest_ = 0;
};

// Files have more room for ids than there are; what no model gave fails the checks of the reader.
ClusterId read_id(ByteReader& reader);

class AliasTable {
 public:
  void place(Arena& arena, Index most);
  void clear() { count_ = 0; }

  // All that pointed at `dead` points at `heir` (kNoId: nobody) from now on, and so does `dead`.
  void bury(ClusterId dead, ClusterId heir);
  // kNoId if nobody remembers.
  ClusterId resolve(ClusterId dead) const;

  static std::size_t most_bytes(Index most) { return 4 + 16 * static_cast<std::size_t>(most); }
  void save(ByteWriter& writer) const;
  // false unless the ids are below `next`, ascending, and those that lives(id) says no to do not
  // live, and the others do.
  template <typename Lives>
  bool load(ByteReader& reader, ClusterId next, const Lives& lives) {
    const std::uint32_t count = reader.read_u32();
    if (!reader.ok() || count > static_cast<std::uint64_t>(most_)) return false;
    count_ = static_cast<Index>(count);
    for (Index i = 0; i < count_; ++i) {
      Alias& alias = alias_[i];
      alias.dead = read_id(reader);
      alias.heir = read_id(reader);
      if (i > 0 && alias_[i - 1].dead >= alias.dead) return false;
      if (alias.dead == kNoId || alias.dead >= next || lives(alias.dead)) return false;
      if (alias.heir != kNoId && !lives(alias.heir)) return false;
    }
    return reader.ok();
  }

 private:
  struct Alias {
    ClusterId dead;
    ClusterId heir;
  };
  Index most_ = 0;
  Index count_ = 0;
  Alias* alias_ = nullptr;  // [most] by dead id, ascending
};

}  // namespace adapvae
