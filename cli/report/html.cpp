#include "cli/report/html.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "cli/plain_text.h"

namespace adapvae::cli {
namespace {

constexpr const char* kDash = "–";
constexpr const char* kMinus = "−";
constexpr const char* kNoBreakSpace = "\u00A0";

const char* entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return nullptr;
  }
}

bool is_refused(std::string_view character) {
  const char32_t code = character_code(character);
  return is_control(code) && code != '\t' && code != '\n';
}

std::string with_commas(std::string digits) {
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

// std::to_chars, because printf obeys the locale. `magnitude` must not be negative.
std::string plain_digits(double magnitude, int digits) {
  char text[400];
  const auto [end, status] =
      std::to_chars(text, text + sizeof text, magnitude, std::chars_format::fixed, digits);
  return status == std::errc() ? std::string(text, end) : kDash;
}

std::string signed_text(double value, int digits) {
  std::string text = plain_digits(std::fabs(value), digits);
  const std::size_t point = text.find('.');
  const std::string whole = with_commas(text.substr(0, point));
  text = point == std::string::npos ? whole : whole + text.substr(point);
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  return value < 0.0 && !is_zero ? kMinus + text : text;
}

std::string scientific_text(double value) {
  int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  double mantissa = value / std::pow(10.0, exponent);
  if (std::fabs(mantissa) >= 9.95) {
    mantissa /= 10.0;
    ++exponent;
  }
  if (!std::isfinite(mantissa)) return value < 0.0 ? std::string(kMinus) + "0" : "0";
  constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = signed_text(mantissa, 1) + " × 10" + (exponent < 0 ? "⁻" : "");
  for (const char digit : std::to_string(std::abs(exponent))) text += kRaised[digit - '0'];
  return text;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0 || is_refused(text.substr(at, bytes))) {
      out += "\uFFFD";
      at += bytes == 0 ? 1 : bytes;
      continue;
    }
    const char* named = bytes == 1 ? entity(text[at]) : nullptr;
    if (named != nullptr) {
      out += named;
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes;
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  std::size_t last = 0;
  for (std::size_t n = 0; at < text.size(); ++n) {
    if (n + 1 == characters) last = at;
    if (n == characters) return std::string(text.substr(0, last)) + "…";
    const std::size_t bytes = character_bytes(text, at);
    at += bytes == 0 ? 1 : bytes;
  }
  return std::string(text);
}

std::string count_text(std::int64_t value) {
  const bool negative = value < 0;
  const std::uint64_t magnitude =
      negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  return (negative ? kMinus : "") + with_commas(std::to_string(magnitude));
}

std::string fixed_text(double value, int digits) {
  return std::isfinite(value) ? signed_text(value, digits) : kDash;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return kDash;
  const double size = std::fabs(value);
  if (size == 0.0) return "0";
  if (size >= 1e12 || size < 1e-3) return scientific_text(value);
  if (size >= 1000.0) return signed_text(value, 0);
  if (value == std::floor(value)) return signed_text(value, 0);
  return signed_text(value, size >= 100.0 ? 1 : size >= 1.0 ? 2 : 3);
}

std::string percent_text(double part) {
  if (!std::isfinite(part)) return kDash;
  const double percent = 100.0 * part;
  if (percent > 0.0 && percent < 0.05) return std::string("< 0.1") + kNoBreakSpace + "%";
  const int digits = percent == 0.0 || percent == 100.0 ? 0 : 1;
  return signed_text(percent, digits) + kNoBreakSpace + "%";
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 999.5 && unit < 4) {
    size /= 1000.0;
    ++unit;
  }
  const int digits = unit == 0 || size >= 99.95 ? 0 : 1;
  return signed_text(size, digits) + kNoBreakSpace + kUnits[unit];
}

std::string counted(std::int64_t n, const char* one, const char* many) {
  return count_text(n) + " " + (n == 1 ? one : many);
}

std::string counted(std::int64_t n, const char* one) {
  return counted(n, one, (one + std::string("s")).c_str());
}

std::vector<std::size_t> thinned(std::size_t n, std::size_t limit) {
  const std::size_t kept = n < limit ? n : limit;
  std::vector<std::size_t> out(kept);
  for (std::size_t i = 0; i < kept; ++i) out[i] = kept > 1 ? i * (n - 1) / (kept - 1) : 0;
  return out;
}

void HtmlTable::add(const std::vector<std::string>& cells) {
  // The ends of cells and lines are implied; long tables are a third shorter without.
  body_ += "<tr>";
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    body_ += columns_[i].align == Align::kNumber ? "<td class=n>" : "<td>";
    body_ += cells[i];
  }
  body_ += '\n';
}

std::string HtmlTable::html(const std::string& label) const {
  std::string out = "<table><thead><tr>";
  for (const Column& column : columns_) {
    const bool is_last = &column == &columns_.back();
    out += column.align == Align::kNumber ? "<th scope=col class=n>"
           : is_last                      ? "<th scope=col class=w>"
                                          : "<th scope=col>";
    out += column.heading + "</th>";
  }
  return scroll_box(label, out + "</tr></thead>\n<tbody>\n" + body_ + "</tbody></table>");
}

std::string thinned_note(std::size_t n, const char* things) {
  if (n <= kTableLines) return "";
  return count_text(static_cast<std::int64_t>(kTableLines)) + " of " +
         count_text(static_cast<std::int64_t>(n)) + " " + things + " are listed, evenly spaced.";
}

std::string folded_table(const HtmlTable& table, const std::string& label,
                         const std::string& note) {
  if (table.empty()) return "";
  return "<details><summary>Table</summary>" +
         (note.empty() ? std::string() : "<p class=small>" + note + "</p>") + table.html(label) +
         "</details>\n";
}

std::string scroll_box(const std::string& label, const std::string& inner) {
  return "<div class=scroll tabindex=0 role=region aria-label=\"" + escape_html(label) + "\">" +
         inner + "</div>\n";
}

}  // namespace adapvae::cli
