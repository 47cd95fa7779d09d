// Every verb with its options: what the help, the manual page and the completion are made of.
#include "cli/journal.h"
#include "cli/report/gather.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

constexpr Option kModel = {"--model", 'm', "FILE",
                           "the model: read if it is there, written at the end", FileUse::kWrite};
constexpr Option kModelRead = {"--model", 'm', "FILE", "the model", FileUse::kRead};
constexpr Option kModelChanged = {"--model", 'm', "FILE", "the model", FileUse::kWrite};
constexpr Option kFormat = {"--format", 'f', "NAME",
                            "csv, tsv, jsonl, idx, npy or image; else seen from the data"};
constexpr Option kColumns = {"--columns", 'c', "A,B",
                             "columns to take, by name or by number from 1"};
constexpr Option kTime = {"--time", 't', "COLUMN", "a column with the time of a row"};
constexpr Option kLabels = {
    "--labels", 'l', "COLUMN|FILE",
    "labels, which score and teach nothing: of text a column, of other rows a "
    "file (IDX, or a line each)",
    FileUse::kRead};
constexpr Option kMissing = {
    "--missing", 0, "WHAT",
    "a missing value: fill (by the model), refuse, skip (the row) or last (value)"};
constexpr Option kDivide = {"--divide", 0, "X",
                            "numbers are divided by this; bytes by 255 unless said"};
constexpr Option kTile = {"--tile", 0, "WxH", "images are sheets: cut into tiles of this size"};
constexpr Option kSize = {"--size", 0, "WxH", "images are brought to this size"};
constexpr Option kThreads = {"--threads", 'j', "N", "threads to compute with"};
constexpr Option kSet = {"--set", 's', "NAME=VALUE",
                         "a field of the configuration (docs/configuration.md)"};
constexpr Option kFlush = {"--flush", 0, nullptr, "hand every line on at once"};
constexpr Option kQuiet = {"--quiet", 'q', nullptr, "nothing on standard error but errors"};
constexpr Option kForce = {"--force", 0, nullptr, "also against the evidence"};
constexpr Option kJson = {"--json", 0, nullptr, "for machines"};
constexpr Option kSummary = {"--json", 0, nullptr, "the summary on standard error as JSON"};
constexpr Option kReport = {"--report", 0, "FILE", "write a report of the run: one HTML file",
                            FileUse::kWrite};
constexpr Option kTitle = {"--title", 0, "TEXT", "title of the report"};
constexpr Option kMaxMemory = {
    "--max-memory", 0, "SIZE",
    "memory that files may make the program take, as in 512M; 1G unless said"};
constexpr Option kSeed = {"--seed", 0, "N", "the same seed and rows give the same model"};

constexpr Option kLearn[] = {
    kModel,
    kFormat,
    kColumns,
    kTime,
    kLabels,
    kMissing,
    kDivide,
    kTile,
    kSize,
    {"--preset", 'p', "NAME", "desktop, paper, browser or edge; else by what the rows are"},
    kSeed,
    {"--block", 'b', "N|Ns", "rows (or seconds) that are learnt at once"},
    {"--as-met", 0, nullptr, "a line as soon as its row comes, before it is learnt"},
    {"--save-every", 0, "N|Ns", "write the model after so many rows or seconds, too"},
    {"--events", 0, "FILE", "births, merges and refusals go here; else to MODEL.events",
     FileUse::kWrite, journal_path},
    {"--max-seconds-per-block", 0, "S", "learn a block no longer than this"},
    kReport,
    kTitle,
    kThreads,
    kSet,
    kMaxMemory,
    kFlush,
    kQuiet,
    kSummary,
};
constexpr Option kScore[] = {kModelRead, kFormat,    kColumns, kTime,   kLabels, kMissing,
                             kDivide,    kTile,      kSize,    kReport, kTitle,  kThreads,
                             kSet,       kMaxMemory, kFlush,   kQuiet,  kSummary};
constexpr Option kEvaluate[] = {kModelRead, kFormat, kColumns, kTime, kLabels,    kMissing, kDivide,
                                kTile,      kSize,   kThreads, kSet,  kMaxMemory, kQuiet,   kJson};
constexpr Option kReportOptions[] = {
    kModelRead,
    {"--output", 'o', "FILE", "else MODEL.html", FileUse::kWrite, page_path},
    {"--events", 0, "FILE", "the history; else MODEL.events", FileUse::kRead, journal_path},
    kTitle,
    kFormat,
    kColumns,
    kTime,
    kLabels,
    kMissing,
    kDivide,
    kTile,
    kSize,
    kThreads,
    kSet,
    kMaxMemory,
    kQuiet};
constexpr Option kExplain[] = {kModelRead, kFormat, kColumns, kTime,      kLabels, kMissing,
                               kDivide,    kTile,   kSize,    kMaxMemory, kJson};
constexpr Option kClusters[] = {kModelRead, kMaxMemory, kJson};
constexpr Option kEvents[] = {kModelRead,
                              {"--events", 0, "FILE", "the file they are in; else MODEL.events",
                               FileUse::kRead, journal_path},
                              {"--all", 'a', nullptr, "births that were refused and drift, too"},
                              kMaxMemory,
                              kJson};
constexpr Option kInspect[] = {
    kModelRead, {"--all", 'a', nullptr, "every field of the configuration"}, kMaxMemory};
constexpr Option kModelOnly[] = {kModelChanged, kMaxMemory};
constexpr Option kForced[] = {kModelChanged, kForce, kMaxMemory};
constexpr Option kGenerate[] = {
    kModelRead,
    {"--output", 'o', "FILE.png", "a picture, if rows are images; else rows are printed",
     FileUse::kWrite},
    {"--count", 'n', "N", "so many; 10 unless said"},
    {"--cluster", 0, "ID", "of this cluster; else of all, by their weight"},
    {"--each", 0, nullptr, "so many of every cluster"},
    {"--means", 0, nullptr, "the middle of every cluster instead"},
    {"--to", 0, "ID", "the way from --cluster to this one instead"},
    {"--seed", 0, "N", "other numbers, other rows"},
    kMaxMemory};
constexpr Option kBench[] = {kThreads, kJson};
constexpr Option kSizes[] = {{"--preset", 'p', "NAME", "desktop, paper, browser or edge"},
                             {"--inputs", 0, "N", "numbers in a row"},
                             kSet,
                             kMaxMemory,
                             kJson};
constexpr Option kDemo[] = {
    {"--data", 0, "FOLDER", "where the digits are; else those that ship with the program"},
    kThreads,
    kSet,
    kSeed,
    kMaxMemory,
    kQuiet};

constexpr std::size_t kMany = std::size_t{1} << 20;

constexpr Verb kVerbs[] = {
    {"learn", "[FILE...]", "Learns rows as they come; a JSON line for each row.", kLearn, run_learn,
     "adapvae learn -m pump.model --report pump.html pump.csv", kMany, FileUse::kReadOrInput},
    {"score", "[FILE...]", "The same without learning.", kScore, run_score,
     "adapvae score -m pump.model today.csv | grep '\"novel\":true'", kMany, FileUse::kReadOrInput},
    {"evaluate", "[FILE...]", "How well clusters agree with labels.", kEvaluate, run_evaluate,
     "adapvae evaluate -m digits.model --labels labels.idx.gz images.idx.gz", kMany,
     FileUse::kReadOrInput},
    {"report", "[FILE...]", "Makes a page about a model: its history, clusters, and rows if given.",
     kReportOptions, run_report, "adapvae report -m pump.model -o pump.html today.csv", kMany,
     FileUse::kRead},
    {"clusters", "", "Lists the clusters of a model.", kClusters, run_clusters,
     "adapvae clusters -m pump.model", 0},
    {"events", "", "Tells what happened: births, merges, corrections.", kEvents, run_events,
     "adapvae events -m pump.model", 0},
    {"explain", "[FILE]", "Says why rows are as novel as they are.", kExplain, run_explain,
     "tail -n 1 today.csv | adapvae explain -m pump.model", 1, FileUse::kReadOrInput},
    {"inspect", "FILE", "Says what is in a model's file, without loading it.", kInspect,
     run_inspect, "adapvae inspect pump.model", 1, FileUse::kRead},
    {"label", "ID NAME", "Names a cluster.", kModelOnly, run_label,
     "adapvae label -m pump.model 3 'worn bearing'", 2},
    {"merge", "ID OTHER", "Puts a cluster into another.", kForced, run_merge,
     "adapvae merge -m pump.model 3 5", 2},
    {"split", "ID", "Divides a cluster in two; prints the new one's id.", kForced, run_split,
     "adapvae split -m pump.model 3", 1},
    {"forget", "ID", "Forgets a cluster and all that it holds.", kModelOnly, run_forget,
     "adapvae forget -m pump.model 3", 1},
    {"undo", "", "Takes back the last of these four, up to four times.", kModelOnly, run_undo,
     "adapvae undo -m pump.model", 0},
    {"generate", "", "Makes up rows, as lines or as a picture.", kGenerate, run_generate,
     "adapvae generate -m digits.model --each -o digits.png", 0},
    {"bench", "[PRESET...]", "How fast this machine learns and scores.", kBench, run_bench, nullptr,
     kMany},
    {"size", "", "What a model takes: memory, flash; for devices, before anything runs there.",
     kSizes, run_size, "adapvae size --preset edge --inputs 32 --set max_clusters=8", 0},
    {"selftest", "", "Whether everything works on this machine.", {}, run_selftest, nullptr, 0},
    {"demo", "[FOLDER]", "Handwritten digits, two new kinds at a time; writes a report.", kDemo,
     run_demo, "adapvae demo", 1},
    {"completion",
     "SHELL",
     "Prints completion for bash, zsh or fish.",
     {},
     run_completion,
     "source <(adapvae completion bash)",
     1},
    {"man", "", "Prints the manual page.", {}, run_man, "adapvae man | man -l -", 0},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace adapvae::cli
