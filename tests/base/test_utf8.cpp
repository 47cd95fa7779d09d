#include <string_view>

#include <doctest/doctest.h>

#include "base/utf8.h"

using namespace adapvae;

TEST_CASE("UTF-8 is told from bytes that are not") {
  for (const std::string_view good :
       {"", "plain", "pump \"α\"", "\xE2\x82\xAC", "\xF0\x9F\x99\x82", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(good);
    CHECK(is_utf8(good));
  }
  for (const std::string_view bad :
       {"\x80", "\xFF", "a\xC3", "\xC0\xAF", "\xE2\x82", "\xE0\x80\x80", "\xED\xA0\x80",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xC3\x28"}) {
    CHECK_FALSE(is_utf8(bad));
  }
  CHECK(utf8_size("\xE2\x82\xACx", 4) == 3);
  CHECK(utf8_size("\xE2\x82\xAC", 2) == 0);
}
