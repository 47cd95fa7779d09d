// What is said of a row: one JSON object on a line of standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <adapvae/adapvae.h>

namespace adapvae::cli {

struct RowLine {
  std::int64_t number = 0;  // of the row in the input, from 1
  std::optional<double> time;
  const std::string* file = nullptr;  // an image's; null or empty: none
  adapvae_result result = {};
  float novelty = 0.0F;   // as the row was met
  const char* name = "";  // of the cluster
  std::string events;     // JSON objects with commas between; empty: none
  bool waiting = false;   // not learnt yet: in the model's file, for the next run
};

// {"row":1,"time":2.5,"file":"a.png","cluster":3,"kind":1,"name":"...","probability":0.99,
//  "novelty":0.02,"novel":false,"events":[...]} and the line's end, added to `out`; cluster and
//  kind
// are null while nothing is known.
void format_row(const RowLine& line, std::string& out);

// Text between quotes of JSON, with all unsafe characters (plain_text.h) escaped; a byte that is
// not UTF-8 becomes U+FFFD.
std::string json_string(const std::string& text);
// The shortest text that reads back as the same number; null for what is not finite.
std::string json_number(double value);
std::string json_number(float value);

}  // namespace adapvae::cli
