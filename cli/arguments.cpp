#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace adapvae::cli {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

const char* nearest(std::span<const char* const> names, const std::string& word) {
  const char* best = nullptr;
  std::size_t least = word.size() / 2 + 1;
  for (const char* name : names) {
    const std::size_t distance = edit_distance(name, word);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::optional<double> parse_number(std::string_view text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  double value = 0.0;
  const auto [stop, status] = std::from_chars(begin, end, value);
  // Beyond the range of numbers: zero or infinity, with its sign.
  if (status == std::errc::result_out_of_range && stop == end) {
    return std::strtod(std::string(begin, end).c_str(), nullptr);
  }
  if (status != std::errc() || stop != end) return {};
  return value;
}

bool Arguments::parse(std::span<const Option> options, std::span<const char* const> words,
                      std::string& error) {
  bool only_operands = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (only_operands || word.size() < 2 || word[0] != '-') {
      operands_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_operands = true;
      continue;
    }
    std::optional<std::string> attached;
    if (const std::size_t equals = word.find('='); word[1] == '-' && equals != std::string::npos) {
      attached = word.substr(equals + 1);
      word.resize(equals);
    }
    if (word[1] != '-' && word.size() > 2) {  // -j4
      attached = word.substr(2);
      word.resize(2);
    }
    const auto found = std::find_if(options.begin(), options.end(), [&word](const Option& option) {
      return word == option.name ||
             (option.letter != 0 && word.size() == 2 && word[1] == option.letter);
    });
    if (found == options.end()) {
      std::vector<const char*> names;
      for (const Option& option : options) names.push_back(option.name);
      const char* like = nearest(names, word);
      error = "no option " + word +
              (like != nullptr ? std::string("; did you mean ") + like + "?" : "");
      return false;
    }
    if (found->value == nullptr) {
      if (attached) {
        error = std::string(found->name) + " takes no value";
        return false;
      }
      values_[found->name];
      continue;
    }
    if (!attached) {
      if (i + 1 == words.size()) {
        error = std::string(found->name) + " needs " + found->value;
        return false;
      }
      attached = words[++i];
    }
    values_[found->name].push_back(*attached);
  }
  return true;
}

std::optional<std::string> Arguments::value(const std::string& name) const {
  const auto at = values_.find(name);
  if (at == values_.end() || at->second.empty()) return {};
  return at->second.back();
}

const std::vector<std::string>& Arguments::values(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto at = values_.find(name);
  return at == values_.end() ? none : at->second;
}

}  // namespace adapvae::cli
