// What `adapvae` can do: a verb each, with its options. run() gives the exit code: 0 done, 1 it
// failed, 2 it was not understood, or an output is also an input.
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
  const char* example;   // a command line; null: none
  std::size_t most = 0;  // operands; more are refused
  FileUse operand_use = FileUse::kNone;
};

// "adapvae: message" on standard error; returns the code.
int fail(const std::string& message, int code = 1);

int run_learn(const Arguments& arguments);
int run_score(const Arguments& arguments);
int run_evaluate(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_clusters(const Arguments& arguments);
int run_events(const Arguments& arguments);
int run_explain(const Arguments& arguments);
int run_inspect(const Arguments& arguments);
int run_label(const Arguments& arguments);
int run_merge(const Arguments& arguments);
int run_split(const Arguments& arguments);
int run_forget(const Arguments& arguments);
int run_undo(const Arguments& arguments);
int run_generate(const Arguments& arguments);
int run_bench(const Arguments& arguments);
int run_size(const Arguments& arguments);
int run_selftest(const Arguments& arguments);
int run_demo(const Arguments& arguments);
int run_completion(const Arguments& arguments);
int run_man(const Arguments& arguments);

// Corrections of a model that is gone cannot be undone.
void forget_undo(const std::string& path);

// All of them, in the order of the help.
std::span<const Verb> verbs();

}  // namespace adapvae::cli
