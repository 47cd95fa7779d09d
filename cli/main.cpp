// adapvae: clusters a stream of rows while it reads them.
#include <cstdio>
#include <cstring>

#include <adapvae/adapvae.h>

#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

constexpr Option kModel = {"--model", 'm', "FILE",
                           "the model: read if it is there, written at the end"};
constexpr Option kFormat = {"--format", 'f', "NAME",
                            "csv, tsv, jsonl, idx or npy; else seen from the data"};
constexpr Option kColumns = {"--columns", 'c', "A,B",
                             "columns to take, by name or by number from 1"};
constexpr Option kTime = {"--time", 't', "COLUMN", "a column with the time of a row"};
constexpr Option kLabels = {"--labels", 'l', "COLUMN",
                            "a column with labels: they score, nothing learns from them"};
constexpr Option kMissing = {"--missing", 0, "WHAT",
                             "a value that is not there: refuse, skip (the row) or last (value)"};
constexpr Option kDivide = {"--divide", 0, "X",
                            "numbers are divided by this; bytes by 255 unless said"};
constexpr Option kThreads = {"--threads", 'j', "N", "threads to compute with"};
constexpr Option kSet = {"--set", 's', "NAME=VALUE",
                         "a field of the configuration (docs/configuration.md)"};
constexpr Option kFlush = {"--flush", 0, nullptr, "hand every line on at once"};
constexpr Option kQuiet = {"--quiet", 'q', nullptr, "nothing on standard error but errors"};
constexpr Option kForce = {"--force", 0, nullptr, "also against the evidence"};
constexpr Option kJson = {"--json", 0, nullptr, "for machines"};

constexpr Option kLearn[] = {
    kModel,
    kFormat,
    kColumns,
    kTime,
    kLabels,
    kMissing,
    kDivide,
    kThreads,
    kSet,
    kFlush,
    kQuiet,
    {"--preset", 'p', "NAME", "desktop, paper, browser or edge; else by what the rows are"},
    {"--seed", 0, "N", "the same seed and rows give the same model"},
    {"--block", 'b', "N|Ns", "rows (or seconds) that are learnt at once"},
    {"--as-met", 0, nullptr, "a line as soon as its row comes, before it is learnt"},
    {"--save-every", 0, "N|Ns", "write the model after so many rows or seconds, too"},
    {"--events", 0, "FILE", "add births, merges and refusals to this file, a JSON line each"},
    {"--max-seconds-per-block", 0, "S", "learn a block no longer than this"},
};
constexpr Option kScore[] = {kModel,  kFormat,  kColumns, kTime,  kLabels, kMissing,
                             kDivide, kThreads, kSet,     kFlush, kQuiet};
constexpr Option kExplain[] = {kModel, kFormat, kColumns, kTime, kLabels, kMissing, kDivide, kJson};
constexpr Option kClusters[] = {kModel, kJson};
constexpr Option kInspect[] = {kModel, {"--all", 'a', nullptr, "every field of the configuration"}};
constexpr Option kModelOnly[] = {kModel};
constexpr Option kForced[] = {kModel, kForce};

constexpr Verb kVerbs[] = {
    {"learn", "[FILE...]", "Learns rows as they come; a JSON line for each row.", kLearn,
     run_learn},
    {"score", "[FILE...]", "The same without learning.", kScore, run_score},
    {"clusters", "", "Lists the clusters of a model.", kClusters, run_clusters},
    {"explain", "[FILE]", "Says why rows are as novel as they are.", kExplain, run_explain},
    {"inspect", "FILE", "Says what is in a model's file, without loading it.", kInspect,
     run_inspect},
    {"label", "ID NAME", "Names a cluster.", kModelOnly, run_label},
    {"merge", "ID OTHER", "Puts a cluster into another.", kForced, run_merge},
    {"split", "ID", "Divides a cluster in two; prints the new one's id.", kForced, run_split},
    {"forget", "ID", "Forgets a cluster and all that it holds.", kModelOnly, run_forget},
};

void print_options(const Verb& verb) {
  for (const Option& option : verb.options) {
    char letter[8] = "    ";
    if (option.letter != 0) std::snprintf(letter, sizeof letter, "-%c, ", option.letter);
    const std::string name = std::string(option.name) + (option.value != nullptr ? " " : "") +
                             (option.value != nullptr ? option.value : "");
    std::printf("  %s%-28s %s\n", letter, name.c_str(), option.help);
  }
}

void print_help() {
  std::printf("usage: adapvae VERB [OPTION...] [FILE...]\n\n");
  for (const Verb& verb : kVerbs)
    std::printf("  %-9s %-10s %s\n", verb.name, verb.operands, verb.sentence);
  std::printf(
      "\nadapvae VERB --help has the options. Without a FILE rows come from standard input.\n\n"
      "  adapvae learn -m pump.model pump.csv                  learn a file, keep the model\n"
      "  tail -f log.csv | adapvae learn -m m --as-met --flush watch a log that grows\n"
      "  adapvae score -m pump.model today.csv | grep '\"novel\":true'\n"
      "  adapvae learn --labels kind measurements.csv          score the clusters by labels\n");
}

void print_verb_help(const Verb& verb) {
  std::printf("usage: adapvae %s [OPTION...] %s\n\n%s\n\n", verb.name, verb.operands,
              verb.sentence);
  print_options(verb);
}

int run(std::span<const char* const> words) {
  if (words.empty()) {
    print_help();
    return 2;
  }
  const std::string name = words[0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
    return 0;
  }
  if (name == "--version") {
    std::printf("adapvae %s\n", adapvae_version_string());
    return 0;
  }
  for (const Verb& verb : kVerbs) {
    if (name != verb.name) continue;
    words = words.subspan(1);
    for (const char* word : words) {
      if (std::strcmp(word, "--help") != 0 && std::strcmp(word, "-h") != 0) continue;
      print_verb_help(verb);
      return 0;
    }
    Arguments arguments;
    std::string error;
    if (!arguments.parse(verb.options, words, error)) return fail(error, 2);
    return verb.run(arguments);
  }
  std::vector<const char*> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const char* like = nearest(names, name);
  return fail("no verb '" + name + "'" +
                  (like != nullptr ? std::string("; did you mean ") + like + "?"
                                   : "; adapvae --help lists them"),
              2);
}

}  // namespace

int fail(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "adapvae: %s\n", message.c_str());
  return code;
}

}  // namespace adapvae::cli

int main(int count, char** words) {
  return adapvae::cli::run({words + 1, static_cast<std::size_t>(count > 0 ? count - 1 : 0)});
}
