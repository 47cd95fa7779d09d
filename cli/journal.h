// What happened to a model, for `events` and `report`: a file next to the model's (MODEL.events), a
// flat JSON object on a line. Every event that the library tells is there; that a stream was learnt
// also has what learning it came to. Only ever appended to, and flushed before the model is saved.
//
// A run that is killed, or a correction that is undone, leaves lines of a future that did not come:
// numbers of events that come again. The reader lets the later line count.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <adapvae/adapvae.h>

#include "cli/report/page.h"

namespace adapvae::cli {

// Where the journal of a model is kept unless --events says otherwise: next to the model's file,
// not next to a link to it.
std::string journal_path(const std::string& model_path);

class Journal {
 public:
  Journal() = default;
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Appends to the file; one that has grown very large is set aside as FILE.1 first. `model_path`:
  // the model that it is a companion of (output_file.h), or empty.
  bool open(const std::string& path, const std::string& model_path, std::string& error);
  bool is_open() const { return file_ != nullptr; }
  // `stream`, for ADAPVAE_LEARNT: what it came to.
  void write(const adapvae_event& event, const ReportStream* stream);
  // False: the disk did not take it.
  bool flush();

 private:
  std::FILE* file_ = nullptr;
  std::string path_, model_path_;
};

// All that happened up to the event of this number. A line that cannot be read is left out: a
// journal is for people, and a crash may have cut it.
bool read_journal(const std::string& path, std::uint64_t last, std::vector<ReportEvent>& events,
                  std::vector<ReportStream>& streams, std::string& error);

}  // namespace adapvae::cli
