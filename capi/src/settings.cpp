// The configuration before a model is there, and the settings of one that is.
#include "base/input_check.h"
#include "handle.h"
#include "model/configuration_for_rows.h"
#include "model/missing_cells.h"

using namespace adapvae;
using namespace adapvae::capi;

adapvae_status adapvae_config_init(adapvae_config* config, uint32_t struct_size) {
  if (config == nullptr || struct_size < kLeastStruct || struct_size > kMostStruct) {
    return ADAPVAE_INVALID_ARGUMENT;
  }
  config->struct_size = struct_size;
  write_config({}, config);
  return ADAPVAE_OK;
}

adapvae_status adapvae_config_preset(adapvae_config* config, const char* name,
                                     adapvae_error* error) {
  Configuration value;
  Status status = read_config(config, &value);
  if (status.ok() && name == nullptr) status = {StatusCode::kInvalidArgument, "name is null"};
  if (status.ok()) status = apply_preset(value, name);
  if (status.ok()) write_config(value, config);
  return finish(error, status);
}

adapvae_status adapvae_config_for_rows(adapvae_config* config, const float* rows, int32_t count,
                                       int32_t inputs, int32_t stride, const char** why,
                                       adapvae_error* error) {
  Configuration value;
  Status status = read_config(config, &value);
  if (status.ok() && inputs < 1) {
    status = {StatusCode::kInvalidArgument, "inputs must be the number of columns, 1 or more"};
  }
  ConstMatrixView view;
  if (status.ok()) status = view_rows(rows, count, stride, inputs, &view);
  if (status.ok() && count > 0) status = MissingCells::check(view);
  if (status.ok()) {
    view.cols = inputs;
    const char* reason = suit_rows(value, view);
    if (why != nullptr) *why = reason;
    write_config(value, config);
  }
  return finish(error, status);
}

const char* adapvae_preset_name(int32_t index) {
  const std::span<const Preset> presets = configuration_presets();
  if (index < 0 || static_cast<std::size_t>(index) >= presets.size()) return nullptr;
  return presets[static_cast<std::size_t>(index)].name;
}

adapvae_status adapvae_config_set(adapvae_config* config, const char* name, const char* value,
                                  adapvae_error* error) {
  Configuration changed;
  Status status = read_config(config, &changed);
  if (status.ok() && (name == nullptr || value == nullptr)) {
    status = {StatusCode::kInvalidArgument, "name or value is null"};
  }
  if (status.ok()) status = set_field_text(changed, name, value);
  if (status.ok()) {
    // A field that an older caller's struct does not have cannot be kept there.
    const FieldInfo& field = *find_field(name);
    if (8U + field.offset + field.size > config->struct_size) {
      status = {StatusCode::kUnavailable, "the program's adapvae_config does not have this field"};
    }
  }
  if (status.ok()) write_config(changed, config);
  return finish(error, status);
}

adapvae_status adapvae_config_get(const adapvae_config* config, const char* name, char* text,
                                  size_t capacity, size_t* needed) {
  Configuration value;
  const Status status = read_config(config, &value);
  if (!status.ok()) return code_of(status);
  const FieldInfo* field = name != nullptr ? find_field(name) : nullptr;
  if (field == nullptr) return ADAPVAE_INVALID_ARGUMENT;
  char buffer[kFieldTextBytes];
  const std::string_view formatted = format_field(value, *field, buffer);
  return code_of(
      put_text(text, capacity, needed, [&](TextWriter& writer) { writer << formatted; }));
}

adapvae_status adapvae_config_field(int32_t index, adapvae_field* field) {
  const std::span<const FieldInfo> fields = configuration_fields();
  if (field == nullptr || !sized(field) || index < 0 ||
      static_cast<std::size_t>(index) >= fields.size()) {
    return ADAPVAE_INVALID_ARGUMENT;
  }
  const FieldInfo& info = fields[static_cast<std::size_t>(index)];
  adapvae_field value = {};
  value.type = static_cast<int32_t>(info.type);
  value.live = info.live ? 1 : 0;
  value.lowest = info.lowest;
  value.highest = info.highest;
  value.preset = get_field({}, info);
  value.name = info.name;
  value.group = info.group;
  value.choices = info.choices != nullptr ? info.choices : "";
  value.sentence = info.sentence;
  put(field, value);
  return ADAPVAE_OK;
}

adapvae_status adapvae_set(adapvae_model* model, const char* name, const char* value) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (name == nullptr || value == nullptr) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "name or value is null");
  }
  // The text is read into a copy; the model then takes the number, if the field is live.
  Configuration changed = model->model.configuration();
  const Status status = set_field_text(changed, name, value);
  if (!status.ok()) return call.finish(status);
  const FieldInfo& field = *find_field(name);
  return call.finish(model->model.set_live(field, get_field(changed, field)));
}

adapvae_status adapvae_set_sensitivity(adapvae_model* model, double sensitivity) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  return call.finish(model->model.set_live(*find_field("sensitivity"), sensitivity));
}

adapvae_status adapvae_get_config(const adapvae_model* model, adapvae_config* config) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (config == nullptr || !sized(config)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "config is null or has no struct_size");
  }
  write_config(model->model.configuration(), config);
  return ADAPVAE_OK;
}
