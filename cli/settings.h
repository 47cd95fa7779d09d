// What the options of a command line say about rows and about the model.
#pragma once

#include "cli/arguments.h"
#include "cli/model_file.h"
#include "cli/row_source.h"
#include "tools/thread_pool.h"

namespace adapvae::cli {

// "500" rows or "10s" seconds.
struct Every {
  double rows = 0.0;     // 0: by time
  double seconds = 0.0;  // 0: by rows
};
// False: not understood.
bool parse_every(const std::string& text, Every& every);

bool source_options(const Arguments& arguments, SourceOptions& options, std::string& error);

// --preset, --seed, --block and --set, in this order.
bool apply_settings(const Arguments& arguments, adapvae_config& config, std::string& error);

// Whether these options are understood at all, before there are rows to make a model for.
bool check_settings(const Arguments& arguments, std::string& error);

// A configuration for rows of this shape, of which `rows` are some of the first: the preset if one
// is given, else adapvae_config_for_rows(); then --seed, --block and --set. With Missing::kFill the
// model takes missing values if the rows have some.
bool model_config(const Arguments& arguments, const RowShape& shape, const std::vector<float>& rows,
                  Missing missing, adapvae_config& config, std::string& error);
bool takes_missing_values(adapvae_model* model);
// The same options on a model that there is: live fields change, others must be what they are.
bool change_settings(const Arguments& arguments, adapvae_model* model, std::string& error);

// Fields that are not the default, or all of them, as name and value.
std::vector<std::pair<std::string, std::string>> changed_settings(const adapvae_config& config,
                                                                  bool all = false);

// Threads for a model; must outlive it.
class Threads {
 public:
  explicit Threads(int count) : pool_(count), count_(count) {}
  adapvae_options options();

 private:
  static void run(void* context, std::int32_t count, adapvae_task task, void* argument);
  tools::ThreadPool pool_;
  int count_;
};

// --threads, or what the machine has, at most 4.
int thread_count(const Arguments& arguments);

}  // namespace adapvae::cli
