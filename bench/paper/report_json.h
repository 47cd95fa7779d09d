// A report as one line of JSON.
#pragma once

#include <map>
#include <string>

#include "bench/paper/experiment.h"

namespace adapvae::bench {

struct RunInfo {
  std::string set;  // folder name of the data
  std::string preset;
  std::uint64_t seed = 0;
  int threads = 0;
  std::map<std::string, std::string> settings;  // what the caller set
  double peak_mb = 0.0;                         // of the whole process, data included
};

std::string report_json(const Protocol& protocol, const Streams& streams, const RunInfo& info,
                        const Report& report);

}  // namespace adapvae::bench
