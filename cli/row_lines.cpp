#include "cli/row_lines.h"

#include <charconv>

namespace adapvae::cli {
namespace {

template <typename T>
std::string shortest(T value) {
  char text[64];
  const auto [end, status] = std::to_chars(text, text + sizeof text, value);
  return status == std::errc() ? std::string(text, end) : "0";
}

std::string id_text(adapvae_id id) { return id == ADAPVAE_NO_ID ? "null" : std::to_string(id); }

}  // namespace

std::string json_number(double value) { return shortest(value); }
std::string json_number(float value) { return shortest(value); }

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string format_row(const RowLine& line) {
  std::string out = "{\"row\":" + std::to_string(line.number);
  if (line.time) out += ",\"time\":" + json_number(*line.time);
  out += ",\"cluster\":" + id_text(line.result.id) + ",\"kind\":" + id_text(line.result.kind);
  if (line.name[0] != '\0') out += ",\"name\":" + json_string(line.name);
  out += ",\"probability\":" + json_number(line.result.probability);
  out += ",\"novelty\":" + json_number(line.novelty);
  out += line.novelty > 0.5F ? ",\"novel\":true" : ",\"novel\":false";
  if (line.waiting) out += ",\"waiting\":true";
  if (!line.events.empty()) out += ",\"events\":[" + line.events + "]";
  return out + "}\n";
}

}  // namespace adapvae::cli
