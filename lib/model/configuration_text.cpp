// Configuration as text. In a file of its own, so that a device that sets numbers alone does not
// link the printing of floating-point numbers.
#include <algorithm>
#include <charconv>

#include "model/configuration.h"

namespace adapvae {
namespace {

// The name that stands first in a list, and the list without it.
std::string_view next_choice(std::string_view& list) {
  const std::size_t end = std::min(list.find(' '), list.size());
  const std::string_view first = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return first;
}

// False: not a number from end to end.
bool read_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_word(const FieldInfo& field, std::string_view text, double& value) {
  if (field.type == FieldType::kSwitch && (text == "true" || text == "false")) {
    value = text == "true" ? 1.0 : 0.0;
    return true;
  }
  value = 0.0;
  for (std::string_view list = field.choices; !list.empty(); value += 1.0) {
    if (next_choice(list) == text) return true;
  }
  return false;
}

}  // namespace

Status set_field_text(Configuration& config, std::string_view name, std::string_view text) {
  const FieldInfo* field = find_field(name);
  if (field == nullptr) return set_field(config, name, 0.0);  // says which name is nearest
  double value = 0.0;
  if (!read_word(*field, text, value) && !read_number(text, value)) {
    return {StatusCode::kInvalidArgument, field->refusal, field - configuration_fields().data()};
  }
  return set_field(config, *field, value);
}

std::string_view format_field(const Configuration& config, const FieldInfo& field,
                              std::span<char> buffer) {
  if (buffer.empty()) return {};
  char* const begin = buffer.data();
  char* const last = begin + buffer.size() - 1;  // for the zero
  const double value = get_field(config, field);
  std::to_chars_result result = {begin, std::errc()};
  if (field.type == FieldType::kReal) {
    result = std::to_chars(begin, last, value);
  } else if (field.type == FieldType::kInteger) {
    result = std::to_chars(begin, last, static_cast<std::int64_t>(value));
  } else {
    std::string_view list = field.choices;
    for (double i = 0.0; i < value; i += 1.0) next_choice(list);
    const std::string_view word = next_choice(list);
    if (word.size() > static_cast<std::size_t>(last - begin)) {
      result.ec = std::errc::value_too_large;
    } else {
      result.ptr = std::copy(word.begin(), word.end(), begin);
    }
  }
  if (result.ec != std::errc()) result.ptr = begin;
  *result.ptr = '\0';
  return {begin, static_cast<std::size_t>(result.ptr - begin)};
}

}  // namespace adapvae
