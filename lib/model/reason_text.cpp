// Reasons of novelty as text: beside event_text.cpp, for the same reason.
#include <algorithm>
#include <cmath>

#include "model/inference.h"

namespace adapvae {
namespace {

constexpr std::size_t kMostNamed = 3;

// Numbers of the largest values, descending; how many there are to name.
template <typename T>
std::size_t largest(std::span<const T> values, std::size_t (&out)[kMostNamed]) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t at = count;
    while (at > 0 && std::fabs(values[out[at - 1]]) < std::fabs(values[i])) --at;
    if (at == kMostNamed) continue;
    count = std::min(count + 1, kMostNamed);
    std::copy_backward(out + at, out + count - 1, out + count);
    out[at] = i;
  }
  return count;
}

void write_cluster(ClusterId id, std::string_view name, TextWriter& text) {
  text << "cluster " << id;
  if (!name.empty()) (text << " ").quoted(name);
}

void write_input(const InputReason& input, TextWriter& text) {
  text << "\n  input " << static_cast<std::uint64_t>(input.number) << ": "
       << static_cast<double>(input.value) << " instead of " << static_cast<double>(input.expected);
  if (input.deviations != 0.0) {
    text << ", " << std::fabs(input.deviations) << " standard deviations "
         << (input.deviations < 0.0 ? "below" : "above");
  }
  text << "; accounts for " << input.effect << " of the surprise";
}

}  // namespace

void write_reason(const RowReason& reason, std::string_view name, TextWriter& text) {
  const RowResult& row = reason.result;
  const bool novel = row.novelty > 0.5F;
  text << (novel ? "novel" : "known") << ": novelty " << static_cast<double>(row.novelty)
       << " (novel above 0.5), surprise " << reason.surprise << " with the boundary at "
       << reason.boundary;
  if (reason.error_surprise != 0.0) {
    text << "\nof the surprise, " << reason.error_surprise
         << " is by how well the row can be redrawn, the rest by its features";
  }
  if ((row.flags & RowResult::kNothingLearnt) != 0) {
    text << "\nnothing has been learnt yet: everything is novel";
    return;
  }
  text << "\nmost probable: ";
  write_cluster(row.id, name, text);
  text << ", probability " << static_cast<double>(row.probability);
  if ((row.flags & RowResult::kProvisional) != 0) text << ", not announced as born yet";
  text << "\nnearest: cluster " << reason.nearest << ", "
       << std::sqrt(std::max(reason.squared_distance, 0.0)) << " of its deviations away; "
       << std::sqrt(static_cast<double>(reason.contribution.size())) << " is usual";
  std::size_t top[kMostNamed];
  std::size_t count = largest(reason.contribution, top);
  text << "\nfeatures that take it there:";
  for (std::size_t i = 0; i < count; ++i) {
    const double part = reason.contribution[top[i]] / std::max(reason.squared_distance, 1e-300);
    text << (i > 0 ? ", " : " ") << std::uint64_t{top[i]} << " (" << 100.0 * part << " %)";
  }
  if (reason.inputs > 0) text << "\ninputs that are not as the others let expect:";
  for (Index i = 0; i < reason.inputs; ++i) write_input(reason.input[i], text);
}

void write_reason_json(const RowReason& reason, std::string_view name, TextWriter& text) {
  const RowResult& row = reason.result;
  const auto number = [&text](const char* key, double value) {
    text << ",\"" << key << "\":";
    text.rounded(value, 9);
  };
  const auto list = [&text](const char* key, auto values) {
    text << ",\"" << key << "\":[";
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text << ",";
      text.rounded(static_cast<double>(values[i]), 6);
    }
    text << "]";
  };
  text << "{\"novel\":" << (row.novelty > 0.5F ? "true" : "false");
  number("novelty", row.novelty);
  number("surprise", reason.surprise);
  number("boundary", reason.boundary);
  number("error_surprise", reason.error_surprise);
  text << ",\"id\":" << row.id << ",\"component\":" << row.component << ",\"name\":";
  text.quoted(name);
  number("probability", row.probability);
  text << ",\"provisional\":" << ((row.flags & RowResult::kProvisional) != 0 ? "true" : "false")
       << ",\"nearest\":" << reason.nearest;
  number("squared_distance", reason.squared_distance);
  list("features", reason.contribution);
  list("errors", reason.error);
  text << ",\"inputs\":[";
  for (Index i = 0; i < reason.inputs; ++i) {
    const InputReason& input = reason.input[i];
    text << (i > 0 ? ",{" : "{") << "\"input\":" << static_cast<std::uint64_t>(input.number);
    number("value", static_cast<double>(input.value));
    number("expected", static_cast<double>(input.expected));
    number("standard_deviations", input.deviations);
    number("effect", input.effect);
    text << "}";
  }
  text << "]}";
}

}  // namespace adapvae
