#include "cli/row_lines.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "cli/plain_text.h"

namespace adapvae::cli {
namespace {

// The shortest text that reads back as the same number.
template <typename T>
void add_number(T value, std::string& out) {
  char text[64];
  const auto [end, status] = std::to_chars(text, text + sizeof text, value);
  out.append(text, status == std::errc() ? static_cast<std::size_t>(end - text) : 0);
}

void add_id(adapvae_id id, std::string& out) {
  if (id == ADAPVAE_NO_ID) {
    out += "null";
  } else {
    add_number(id, out);
  }
}

template <typename T>
std::string number_text(T value) {
  std::string out;
  if (!std::isfinite(value)) return "null";
  add_number(value, out);
  return out;
}

}  // namespace

std::string json_number(double value) { return number_text(value); }
std::string json_number(float value) { return number_text(value); }

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    const std::string_view character(text.data() + at, bytes == 0 ? 1 : bytes);
    const char32_t code = bytes == 0 ? U'\uFFFD' : character_code(character);  // JSON is UTF-8
    if (code == '"' || code == '\\') out += '\\';
    if (bytes == 0 || is_unsafe(code)) {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(code));
      out += escape;
    } else {
      out += character;
    }
    at += character.size();
  }
  return out + '"';
}

void format_row(const RowLine& line, std::string& out) {
  out += "{\"row\":";
  add_number(line.number, out);
  if (line.time) {
    out += ",\"time\":";
    add_number(*line.time, out);
  }
  if (line.file != nullptr && !line.file->empty()) out += ",\"file\":" + json_string(*line.file);
  out += ",\"cluster\":";
  add_id(line.result.id, out);
  out += ",\"component\":";
  add_id(line.result.component, out);
  if (line.name[0] != '\0') out += ",\"name\":" + json_string(line.name);
  out += ",\"probability\":";
  add_number(line.result.probability, out);
  out += ",\"novelty\":";
  add_number(line.novelty, out);
  out += line.novelty > 0.5F ? ",\"novel\":true" : ",\"novel\":false";
  if (line.waiting) out += ",\"waiting\":true";
  if (!line.events.empty()) out += ",\"events\":[" + line.events + "]";
  out += "}\n";
}

}  // namespace adapvae::cli
