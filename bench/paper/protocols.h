// The paper's protocols as streams of training rows. Labels make the streams here, and score
// elsewhere; nothing that learns sees them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/paper/data_set.h"

namespace adapvae::bench {

enum class StreamKind {
  kBatch,     // everything as one block
  kPairs,     // classes 0-1, then 2-3, …
  kRare,      // classes 0-4, then ten streams of these with a few of class 5
  kOneByOne,  // a class a stream
  kSame,      // class 0 again and again: nothing new ever comes
};

struct Protocol {
  const char* name;
  const char* set;  // folder name of its data set
  StreamKind streams;
  bool pretrain_all;  // the paper's way: features from unlabelled rows of all classes first
  RowScaling scaling;
  bool ordered;      // neighbouring inputs belong together (see pool_inputs)
  int max_clusters;  // room that it needs; 0: as the preset says
  const char* sentence;
};

std::span<const Protocol> protocols();
// Null: none of that name.
const Protocol* find_protocol(std::string_view name);

struct StreamOptions {
  std::size_t rows = 0;           // of a stream (kRare: of the first); 0: all that there are
  double fraction = 0.01;         // kRare: part of class 5 in the later streams
  std::size_t pretrain_rows = 0;  // pretrain_all: 0: as many as there are in all streams together
  std::uint64_t seed = 0;
};

constexpr int kRareClass = 5;
constexpr int kRareStreams = 10;
constexpr int kSameStreams = 20;

struct Stage {
  std::vector<std::uint32_t> rows;  // numbers of training rows, in the order in which they come
  std::vector<int> fresh;  // classes that are to be found here: new, or new before and rare
};

struct Streams {
  std::vector<std::uint32_t> pretrain;  // empty: the first stream's own
  std::vector<Stage> stages;
  double fraction = 0.0;  // kRare: as asked for

  std::size_t longest() const;
  std::size_t rows() const;
};

// On failure: false, and error says what there is too little of.
[[nodiscard]] bool make_streams(const Protocol& protocol, const std::vector<int>& label,
                                int classes, const StreamOptions& options, Streams& streams,
                                std::string& error);

}  // namespace adapvae::bench
