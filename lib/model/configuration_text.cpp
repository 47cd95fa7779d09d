// Configuration as text. In a file of its own, so that a device that sets numbers alone does not
// link the printing of floating-point numbers.
#include <algorithm>
#include <cmath>

#include "base/decimal.h"
#include "base/text_writer.h"
#include "model/configuration.h"

namespace adapvae {
namespace {

// The name that stands first in a list, and the list without it.
std::string_view next_choice(std::string_view& list) {
  const std::size_t end = std::min(list.find(' '), list.size());
  const std::string_view first(list.data(), end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return first;
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
  if (!read_word(*field, text, value) && !parse_decimal(text, &value)) {
    return {StatusCode::kInvalidArgument, field->refusal, field - configuration_fields().data()};
  }
  return set_field(config, *field, value);
}

std::string_view format_field(const Configuration& config, const FieldInfo& field,
                              std::span<char> buffer) {
  if (buffer.empty()) return {};
  const double value = get_field(config, field);
  TextWriter text(buffer.data(), buffer.size());
  if (field.type == FieldType::kReal) {
    text.exact(value);
  } else if (field.type == FieldType::kInteger) {
    if (value < 0.0) text << "-";
    text << static_cast<std::uint64_t>(std::fabs(value));
  } else {
    std::string_view list = field.choices;
    for (double i = 0.0; i < value; i += 1.0) next_choice(list);
    text << next_choice(list);
  }
  if (!text.complete()) return TextWriter(buffer.data(), buffer.size()).finish();
  return text.finish();
}

}  // namespace adapvae
