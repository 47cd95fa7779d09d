// The words of a command line: a verb, options and operands. Every verb says which options it
// takes; an unknown one is refused with the nearest that there is.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adapvae::cli {

// What a verb does with the file that an option or an operand names.
enum class FileUse {
  kNone,         // it names no file
  kRead,         // it is only read
  kReadOrInput,  // the same; standard input if there is none
  kWrite,        // it is written; it may be read, too
};

struct Option {
  const char* name;   // with its dashes
  char letter;        // '-x' for short; 0: none
  const char* value;  // what follows, for the help; null: nothing does
  const char* help;
  FileUse use = FileUse::kNone;
  // The file if the option is not given, by the model's; null: none.
  std::string (*otherwise)(const std::string& model) = nullptr;
};

class Arguments {
 public:
  // False: `error` says what is wrong.
  bool parse(std::span<const Option> options, std::span<const char* const> words,
             std::string& error);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // The last one given.
  std::optional<std::string> value(const std::string& name) const;
  // All, as they came.
  const std::vector<std::string>& values(const std::string& name) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> operands_;
};

// Of these names the one that is most like `word`; null if none is.
const char* nearest(std::span<const char* const> names, const std::string& word);

// The whole text as a number; nothing if it is none.
std::optional<double> parse_number(std::string_view text);

}  // namespace adapvae::cli
