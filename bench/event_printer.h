// Cluster events as lines of text, for the experiment drivers.
#pragma once

#include <cstdio>

#include "structure/cluster_learner.h"

namespace adapvae::bench {

// Births, merges and the like, not what was refused.
inline void write_event(FILE* file, const ClusterEvent& e) {
  static const char* const kNames[] = {"born",  "merged",  "retired", "refused", "forgotten",
                                       "split", "noticed", "named",   "undone"};
  if (e.kind == ClusterEventKind::kRefused) return;
  std::fprintf(file, "stream %llu: %s %llu (%llu) gain %.3g rows %.1f\n",
               static_cast<unsigned long long>(e.stream), kNames[static_cast<int>(e.kind)],
               static_cast<unsigned long long>(e.id), static_cast<unsigned long long>(e.other),
               e.gain, e.rows);
}

// An EventSink. context: a bool, true = silent.
inline void print_event(void* context, const ClusterEvent& e) {
  if (!*static_cast<bool*>(context)) write_event(stdout, e);
}

}  // namespace adapvae::bench
