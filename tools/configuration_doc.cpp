// Prints the table of the configuration for those who read it elsewhere.
//
//   configuration_doc > docs/configuration.md
//   configuration_doc header         the struct adapvae_config of capi/include/adapvae/adapvae.h
#include <algorithm>
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

// ---- the public struct -------------------------------------------------------------------------

// "0 bernoulli, 1 gaussian": what the numbers of a choice mean.
std::string numbered_choices(const FieldInfo& field) {
  std::string text;
  std::string names = field.choices;
  for (int number = 0; !names.empty(); ++number) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (number > 0) text.append(", ");
    text.append(std::to_string(number)).append(1, ' ').append(names, 0, end);
    names.erase(0, end + 1);
  }
  return text;
}

std::string comment_of(const FieldInfo& field) {
  std::string text = field.sentence;
  if (field.type == FieldType::kChoice) {
    text.append(1, ' ').append(numbered_choices(field)).append(1, '.');
  }
  if (field.type == FieldType::kSwitch) text += " 0 or 1.";
  if (field.live) text += " Live.";
  const double value = get_field(Configuration{}, field);
  if (value < field.lowest) return text;
  // Numbers of choices and switches, not their names: this is for those who assign.
  const bool named = field.type == FieldType::kChoice || field.type == FieldType::kSwitch;
  text.append(" Default ");
  text.append(named ? std::to_string(static_cast<int>(value)) : text_of(Configuration{}, field));
  return text.append(".");
}

// Words of `text` in lines that end before column 100.
void print_comment(const std::string& text) {
  std::string line = "  /* ";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t closing = end == text.size() ? 3 : 0;
    if (line.size() + word.size() + closing > 98) {
      line.pop_back();
      std::printf("%s\n", line.c_str());
      line = "   * ";
    }
    line.append(word).append(1, ' ');
    at = end + 1;
  }
  std::printf("%s*/\n", line.c_str());
}

void print_header() {
  std::printf(
      "typedef struct adapvae_config {\n  uint32_t struct_size;\n  uint32_t reserved; /* 0 */\n");
  const char* group = "";
  for (const FieldInfo& field : configuration_fields()) {
    if (std::strcmp(group, field.group) != 0) {
      group = field.group;
      std::printf("\n  /* -- %s -- */\n", group);
    }
    print_comment(comment_of(field));
    const char* type = field.type == FieldType::kReal ? "double"
                       : field.size == 8              ? "uint64_t"
                                                      : "int32_t";
    std::printf("  %s %s;\n", type, field.name);
  }
  std::printf("} adapvae_config;\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "header") == 0) {
    print_header();
    return 0;
  }
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
