#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/text_writer.h"

using namespace adapvae;

TEST_CASE("text is written as far as it fits, and counted whole") {
  const auto write = [](TextWriter& text) -> TextWriter& {
    return text << "α=" << 0.5 << ", " << std::uint64_t{18446744073709551615U};
  };
  const std::string whole = "α=0.5, 18446744073709551615";
  for (std::size_t capacity = 0; capacity < whole.size() + 3; ++capacity) {
    std::string buffer(capacity + 1, '#');
    TextWriter text(capacity > 0 ? buffer.data() : nullptr, capacity);
    write(text);
    CHECK(text.needed() == whole.size() + 1);
    CHECK(text.complete() == (capacity >= whole.size() + 1));
    const std::string out(text.finish());
    CHECK(whole.substr(0, out.size()) == out);
    CHECK((capacity == 0 || buffer[out.size()] == '\0'));
    CHECK(buffer[capacity] == '#');
    if (text.complete()) CHECK(out == whole);
    // Pieces go in whole or not at all.
    CHECK((out.empty() || out.size() >= 3));
  }
}

TEST_CASE("JSON strings and numbers") {
  char buffer[200];
  TextWriter text(buffer, sizeof(buffer));
  text.quoted("a\"b\\c\n\x01 é")
      .exact(0.1)
      .exact(std::nan(""))
      .exact(std::numeric_limits<double>::infinity());
  CHECK(text.finish() == "\"a\\\"b\\\\c\\u000a\\u0001 é\"0.1nullnull");
}
