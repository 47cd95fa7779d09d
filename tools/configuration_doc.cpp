// Prints docs/configuration.md from the table of the configuration.
//
//   configuration_doc > docs/configuration.md
#include <cstdio>
#include <cstring>
#include <string>

#include "model/configuration.h"

using namespace adapvae;

namespace {

std::string text_of(const Configuration& config, const FieldInfo& field) {
  char buffer[kFieldTextBytes];
  return std::string(format_field(config, field, buffer));
}

// Bounds, or the names of choices, as a refusal says them.
std::string values_of(const FieldInfo& field) {
  std::string text = field.refusal;
  for (const char* part : {" must be ", "a whole number from ", "a number from ", "one of: "}) {
    const std::size_t at = text.find(part);
    if (at != std::string::npos) text.erase(0, at + std::strlen(part));
  }
  if (field.type != FieldType::kChoice) return text;
  for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, ", ");
  }
  return text;
}

void print_group(const char* group) {
  std::printf("\n## %s\n\n| name | default | values | live | |\n|---|---|---|---|---|\n", group);
  for (const FieldInfo& field : configuration_fields()) {
    if (std::strcmp(field.group, group) != 0) continue;
    const bool in_bounds = get_field(Configuration{}, field) >= field.lowest;
    std::printf("| `%s` | %s | %s | %s | %s |\n", field.name,
                in_bounds ? text_of(Configuration{}, field).c_str() : "none",
                values_of(field).c_str(), field.live ? "yes" : "no", field.sentence);
  }
}

void print_presets() {
  std::printf(
      "\n## Presets\n\nA preset is the defaults with these values. All values of it can be changed "
      "afterwards.\n\n| preset | values | |\n|---|---|---|\n");
  for (const Preset& preset : configuration_presets()) {
    Configuration config;
    if (!apply_preset(config, preset.name).ok()) continue;
    std::string values;
    for (const PresetValue& value : preset.values) {
      const FieldInfo& field = *find_field(value.field);
      values += std::string(values.empty() ? "" : ", ") + "`" + field.name + "` " +
                text_of(config, field);
    }
    std::printf("| `%s` | %s | %s |\n", preset.name, values.c_str(), preset.sentence);
  }
}

}  // namespace

int main() {
  std::printf(
      "# Configuration\n\n"
      "Printed by `configuration_doc` from `lib/model/configuration_table.cpp`; a test holds the "
      "two "
      "together.\n\n"
      "Only `inputs` must be given. A field that is live can be changed on an existing model, "
      "between "
      "streams; the\nothers are fixed when it is created. As text, numbers have a decimal point, "
      "switches are `on` or `off`,\nchoices have the names given here.\n");
  const char* group = "";
  for (const FieldInfo& field : configuration_fields()) {
    if (std::strcmp(group, field.group) == 0) continue;
    group = field.group;
    print_group(group);
  }
  print_presets();
  return 0;
}
