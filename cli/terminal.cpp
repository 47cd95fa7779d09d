#include "cli/terminal.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace adapvae::cli {
namespace {

bool wants_colour(std::FILE* file) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(fileno(file)) != 0 && (refused == nullptr || refused[0] == '\0') &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

std::string styled(const std::string& text, Style style, std::FILE* file) {
  const char* code = "";
  switch (style) {
    case Style::kPlain:
      return text;
    case Style::kGood:
      code = "1;32";
      break;
    case Style::kBad:
      code = "1;31";
      break;
    case Style::kStrong:
      code = "1";
      break;
    case Style::kFaint:
      code = "2";
      break;
  }
  if (!wants_colour(file)) return text;
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

std::string short_time(double seconds) {
  const auto whole = static_cast<long>(std::fmin(std::fmax(std::ceil(seconds), 0.0), 1e8));
  if (whole < 100) return std::to_string(whole) + " s";
  const long minutes = (whole + 30) / 60;
  if (minutes < 100) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

std::string short_bytes(double bytes) {
  const char* unit[] = {"B", "kB", "MB", "GB", "TB"};
  int at = 0;
  while (bytes >= 999.5 && at < 4) {
    bytes /= 1000.0;
    ++at;
  }
  char text[32];
  std::snprintf(text, sizeof text, at == 0 || bytes >= 100.0 ? "%.0f %s" : "%.1f %s", bytes,
                unit[at]);
  return text;
}

}  // namespace adapvae::cli
