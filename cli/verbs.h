// What `adapvae` can do: a verb each, with its options. run() gives the exit code: 0 done, 1 it
// failed, 2 it was not understood.
#pragma once

#include <span>
#include <string>

#include "cli/arguments.h"

namespace adapvae::cli {

struct Verb {
  const char* name;
  const char* operands;  // for the help
  const char* sentence;
  std::span<const Option> options;
  int (*run)(const Arguments& arguments);
};

// "adapvae: message" on standard error; returns the code.
int fail(const std::string& message, int code = 1);

int run_learn(const Arguments& arguments);
int run_score(const Arguments& arguments);
int run_clusters(const Arguments& arguments);
int run_explain(const Arguments& arguments);
int run_inspect(const Arguments& arguments);
int run_label(const Arguments& arguments);
int run_merge(const Arguments& arguments);
int run_split(const Arguments& arguments);
int run_forget(const Arguments& arguments);

}  // namespace adapvae::cli
