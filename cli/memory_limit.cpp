#include "cli/memory_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cli/arguments.h"
#include "cli/terminal.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kUsualLimit = std::size_t{1} << 30;
constexpr std::size_t kLinesPerLimit = 128;
constexpr char kUnits[] = "KMGT";

// As the option takes it.
std::string bytes_option(double bytes) {
  int unit = -1;
  while (unit < 3 && bytes >= 1024.0 && bytes == 1024.0 * std::floor(bytes / 1024.0)) {
    bytes /= 1024.0;
    ++unit;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.0f", bytes);
  return unit < 0 ? text : std::string(text) + kUnits[unit];
}

std::string the_limit() {
  return ", and the limit is " + bytes_option(static_cast<double>(memory_limit)) +
         "; --max-memory ";
}

}  // namespace

std::size_t memory_limit = kUsualLimit;

bool parse_bytes(const std::string& text, std::size_t& bytes) {
  if (text.empty()) return false;
  const std::string units = kUnits;
  const std::size_t unit = units.find(text.back());
  const std::string digits = unit == std::string::npos ? text : text.substr(0, text.size() - 1);
  std::optional<double> value = parse_number(digits);
  if (!value || !std::isfinite(*value)) return false;
  if (unit != std::string::npos) *value *= std::pow(1024.0, static_cast<double>(unit) + 1.0);
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::size_t>::max() / 4);
  if (!(*value >= 1.0)) return false;
  bytes = static_cast<std::size_t>(std::min(*value, kMost));
  return true;
}

std::size_t longest_line() { return memory_limit / kLinesPerLimit; }

std::string too_large(const std::string& what, double needed) {
  // Some more than it takes now, in whole units.
  const double unit = needed > 1e9 ? 1073741824.0 : 1048576.0;
  return what + " needs " + short_bytes(needed) + " of memory" + the_limit() +
         bytes_option(unit * std::ceil(1.02 * needed / unit)) + " raises it";
}

std::string too_large(const std::string& what) {
  return what + " is too large" + the_limit() + "SIZE raises it";
}

}  // namespace adapvae::cli
