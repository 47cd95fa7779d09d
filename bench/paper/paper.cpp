// One protocol of the paper with one seed. Labels make the streams and score, nothing else.
//
//   paper PROTOCOL DATA SEED [name=value...]     paper --list
//
// DATA is the folder of the protocol's data set. Names are those of docs/configuration.md, on top
// of a preset (preset=desktop), and
//   rows=N           of a stream (p3: of the first); p2: 4000, for small presets 1000; else all
//   fraction=0.01    p3: part of fives in the later streams
//   pretrain_rows=N  paper's way: rows of all classes; else as many as all streams have
//   scale=...        none, overall, columns: how inputs are scaled, by the first stream's rows
//   threads=2, quiet=0 (1: no events)
//   out=FOLDER       pictures there: decoded cluster means after each stream, generated samples
//   vectors=FOLDER   rows and latents there, for peers
// Progress goes to stderr; the one line on stdout is a JSON object. bench/paper.py loops over seeds
// and makes tables.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/resource.h>

#include "bench/paper/experiment.h"
#include "bench/paper/outputs.h"
#include "bench/paper/report_json.h"

using namespace adapvae;
using namespace adapvae::bench;

namespace {

using Options = std::map<std::string, std::string>;

int refuse(const std::string& message, int code = 2) {
  std::fprintf(stderr, "paper: %s\n", message.c_str());
  return code;
}

// An option of the driver's own, taken out of what is the configuration's.
std::string take(Options& options, const char* name, const char* otherwise) {
  const auto at = options.find(name);
  if (at == options.end()) return otherwise;
  std::string value = at->second;
  options.erase(at);
  return value;
}

std::size_t take_count(Options& options, const char* name, const char* otherwise) {
  return static_cast<std::size_t>(std::atoll(take(options, name, otherwise).c_str()));
}

const char* default_rows(const Protocol& protocol, const std::string& preset) {
  if (protocol.streams != StreamKind::kPairs) return "0";
  return preset == "edge" || preset == "browser" ? "1000" : "4000";
}

bool read_scaling(const std::string& name, const Protocol& protocol, RowScaling& scaling) {
  scaling = protocol.scaling;
  if (name == "none") scaling = RowScaling::kNone;
  if (name == "overall") scaling = RowScaling::kOverall;
  if (name == "columns") scaling = RowScaling::kColumns;
  return name.empty() || name == "none" || name == "overall" || name == "columns";
}

// The kernel's own figure where there is one: that of getrusage starts with what the parent had.
double peak_mb() {
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    long long kilobytes = -1;
    while (kilobytes < 0 && std::fgets(line, sizeof(line), file) != nullptr) {
      if (std::strncmp(line, "VmHWM:", 6) == 0) kilobytes = std::atoll(line + 6);
    }
    std::fclose(file);
    if (kilobytes > 0) return static_cast<double>(kilobytes) * 1024.0 / 1e6;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

// Everything that a run needs, from the command line.
struct Run {
  Protocol protocol;
  RunInfo info;
  StreamOptions wanted;
  bool quiet = false;
  std::string out;
  std::string vectors;
  DataSet set;
  Streams streams;
  Configuration config;
};

// What is left in `options` is the configuration's.
bool take_own(Options& options, Run& run, std::string& error) {
  run.info.preset = take(options, "preset", "desktop");
  run.wanted.rows = take_count(options, "rows", default_rows(run.protocol, run.info.preset));
  run.wanted.fraction = std::atof(take(options, "fraction", "0.01").c_str());
  run.wanted.pretrain_rows = take_count(options, "pretrain_rows", "0");
  run.wanted.seed = run.info.seed;
  run.info.threads = std::max(1, static_cast<int>(take_count(options, "threads", "2")));
  run.quiet = take(options, "quiet", "0") != "0";
  run.out = take(options, "out", "");
  run.vectors = take(options, "vectors", "");
  for (const char* name : {"preset", "threads", "quiet", "out", "vectors"}) {
    run.info.settings.erase(name);
  }
  if (!read_scaling(take(options, "scale", ""), run.protocol, run.protocol.scaling)) {
    error = "scale is one of: none, overall, columns";
  } else if (!(run.wanted.fraction >= 0.0 && run.wanted.fraction <= 1.0)) {
    error = "fraction is a number from 0 to 1";
  }
  return error.empty();
}

bool set_fields(const Options& options, Configuration& config, std::string& error) {
  for (const auto& [name, value] : options) {
    const Status status = set_field_text(config, name, value);
    if (status.ok()) continue;
    error = name + "=" + value + ": " + status.message();
    return false;
  }
  const Status status = check_configuration(config);
  if (!status.ok()) error = std::string("configuration: ") + status.message();
  return status.ok();
}

bool prepare(const std::string& path, Run& run, std::string& error) {
  Options options = run.info.settings;
  run.info.set = path.substr(path.find_last_of('/') + 1);
  if (!take_own(options, run, error) || !read_data_set(path, run.set, error) ||
      !make_streams(run.protocol, run.set.train.label, run.set.classes, run.wanted, run.streams,
                    error)) {
    return false;
  }
  const auto inputs = static_cast<Index>(take_count(options, "inputs", "0"));
  const Status status =
      configure(run.protocol, run.streams, run.info.preset, inputs, run.set, run.config);
  if (!status.ok()) {
    error = status.message();
    return false;
  }
  run.config.seed = run.info.seed;
  if (!set_fields(options, run.config, error)) return false;
  scale_rows(run.set, run.protocol.scaling, run.streams.stages[0].rows);
  return true;
}

std::string picture_name(const Run& run) {
  std::string name = std::string(run.protocol.name) + "-seed" + std::to_string(run.info.seed);
  if (run.protocol.streams != StreamKind::kRare) return name;
  char part[40];
  std::snprintf(part, sizeof(part), "-%gpercent", 100.0 * run.streams.fraction);
  return name + part;
}

bool execute(Run& run, std::string& error) {
  Experiment experiment(run.protocol, run.streams, run.set, run.config, run.info.threads,
                        run.quiet);
  MeansPicture means;
  Report report;
  const bool pictures = !run.out.empty() && run.set.width > 0;
  const Status status = experiment.run(report, pictures ? &means : nullptr);
  if (!status.ok()) {
    error = status.message();
    return false;
  }
  run.info.peak_mb = peak_mb();
  const std::string start = run.out + "/" + picture_name(run);
  if (pictures && (!means.write(run.set, start + "-means.png", error) ||
                   !write_samples(experiment, run.info.seed, start + "-samples.png", error))) {
    return false;
  }
  if (!run.vectors.empty() && !write_vectors(experiment, run.vectors, error)) return false;
  std::printf("%s\n", report_json(run.protocol, run.streams, run.info, report).c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Protocol& p : protocols()) std::printf("%s\t%s\t%s\n", p.name, p.set, p.sentence);
    return 0;
  }
  if (argc < 4) return refuse("usage: paper PROTOCOL DATA SEED [name=value...] | paper --list");
  const Protocol* protocol = find_protocol(argv[1]);
  if (protocol == nullptr) return refuse(std::string("there is no protocol ") + argv[1]);
  Run run;
  run.protocol = *protocol;
  run.info.seed = static_cast<std::uint64_t>(std::atoll(argv[3]));
  for (int i = 4; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr) return refuse(std::string("not name=value: ") + argv[i]);
    const std::string name(argv[i], static_cast<std::size_t>(equals - argv[i]));
    run.info.settings[name] = equals + 1;
  }
  std::string error;
  if (!prepare(argv[2], run, error)) return refuse(error);
  return execute(run, error) ? 0 : refuse(error, 1);
}
