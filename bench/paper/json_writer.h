// One line of JSON, written from front to back:
//
//   JsonWriter json;
//   json.begin('{').key("seed").value(7).key("streams").begin('[').end(']').end('}');
//   puts(json.text().c_str());
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace adapvae::bench {

class JsonWriter {
 public:
  JsonWriter& begin(char bracket) {
    separate();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonWriter& end(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    value(name);
    text_ += ": ";
    fresh_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) {
    separate();
    text_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    text_ += '"';
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool yes) { return raw(yes ? "true" : "false"); }
  // JSON has no NaN and no infinity.
  JsonWriter& value(double number) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%.6g", number);
    return raw(std::isfinite(number) ? buffer : "null");
  }
  template <typename T>
  requires std::is_integral_v<T> JsonWriter& value(T number) {
    return raw(std::to_string(number).c_str());
  }
  JsonWriter& null() { return raw("null"); }

  const std::string& text() const { return text_; }

 private:
  void separate() {
    if (!fresh_) text_ += ", ";
    fresh_ = false;
  }
  JsonWriter& raw(const char* text) {
    separate();
    text_ += text;
    return *this;
  }

  std::string text_;
  bool fresh_ = true;  // nothing stands before in this bracket
};

}  // namespace adapvae::bench
