// A protocol run through a model: what was learnt, and what the labels say of it after each stream.
#pragma once

#include <memory>

#include "bench/paper/evaluation.h"
#include "bench/paper/protocols.h"
#include "compute/cpu_backend.h"
#include "model/model.h"
#include "tools/placed_memory.h"
#include "tools/thread_pool.h"

namespace adapvae::bench {

// Clusters and components that there are, and how they agree with labels.
struct Scores {
  Index clusters = 0;
  Index components = 0;
  ClusterMetrics by_cluster;
  ClusterMetrics by_component;
};

struct StageReport {
  std::size_t rows = 0;
  std::vector<int> fresh;
  Index births = 0;  // announced in this stream
  Index merges = 0;  // retirements, too
  Index strays = 0;  // clusters born here whose majority is not what is to be found here
  Index replay_rows = 0;
  double drift = 0.0;
  double seconds = 0.0;
  Scores scores;                // held-out rows of the classes seen so far
  double earlier_nmi = 0.0;     // of the classes of earlier streams alone
  double earlier_frozen = 0.0;  // likewise: accuracy with a cluster's class fixed at its birth
  double false_alarms = 0.0;    // held-out rows of known classes flagged, before this stream
};

struct Novelty {
  int stream = 0;  // from 1
  Finding held_out;
  int delay_rows = -1;   // until the first flagged row of it, in its stream
  double flagged = 0.0;  // part of its rows that is, before they were learnt
};

// kRare: the class in clusters born since the first stream.
struct RareReport {
  Finding held_out;
  Finding streams;       // on the streams' own rows
  int first_stream = 0;  // in which such a cluster was born; 0: none
};

struct Report {
  std::size_t rows = 0;
  std::size_t held_out_rows = 0;
  double seconds = 0.0;  // of learning alone
  double model_mb = 0.0;
  Scores scores;           // at the end, held-out rows of all classes that came
  double frozen = 0.0;     // accuracy with a cluster's class fixed at its birth
  Index false_births = 0;  // announced in streams without anything new
  std::vector<StageReport> stages;
  std::vector<Novelty> novelty;  // of the classes of streams; none for a batch
  RareReport rare;
};

// The configuration of the preset for these streams of this set; what the caller sets comes after.
// The set's rows are made `inputs` long (0: the preset's number) where that is possible, else the
// configuration takes them as they are; kInvalidArgument if that was asked for.
Status configure(const Protocol& protocol, const Streams& streams, std::string_view preset,
                 Index inputs, DataSet& set, Configuration& config);

class Experiment {
 public:
  // The configuration must have passed check_configuration. All is borrowed.
  Experiment(const Protocol& protocol, const Streams& streams, const DataSet& set,
             const Configuration& config, int threads, bool quiet);

  // Called after each stream.
  struct Watcher {
    virtual void after_stream(Experiment& experiment) = 0;
    virtual ~Watcher() = default;
  };
  Status run(Report& report, Watcher* watcher);

  Model& model() { return model_; }
  Backend& backend() { return backend_; }
  const DataSet& set() const { return set_; }
  const Streams& streams() const { return streams_; }

 private:
  Status learn(std::size_t stage, StageReport& report);
  Status judge(const std::vector<float>& rows, Judgement& out);
  Status look_ahead(std::size_t stage, StageReport& report);
  void look_back(std::size_t stage, StageReport& report);
  Status score_rare(RareReport& report);
  Scores score(const std::set<int>& classes) const;
  std::vector<float> rows_of(const std::vector<std::uint32_t>& numbers) const;
  std::set<ClusterId> born_in(std::uint64_t first, std::uint64_t last) const;
  static void tell(void* experiment, const ClusterEvent& event);

  const Protocol& protocol_;
  const Streams& streams_;
  const DataSet& set_;
  CpuBackend backend_;
  Model model_;
  std::unique_ptr<tools::PlacedMemory> memory_;
  tools::ThreadPool pool_;
  bool quiet_;
  StageReport* current_ = nullptr;   // told of events
  Judgement held_out_;               // after the last stream
  std::set<int> seen_;               // classes that came
  std::map<ClusterId, int> frozen_;  // a cluster's class as of its birth
  std::vector<Novelty> novelty_;
};

}  // namespace adapvae::bench
