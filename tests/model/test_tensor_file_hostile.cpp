// Tensor files that are damaged or made to deceive: refused with the right reason, and nothing is
// read that is not the file's.
#include <iterator>

#include <doctest/doctest.h>

#include "support/tensor_file_check.h"
#include "support/tensor_file_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

// splitmix64
struct Random {
  std::uint64_t state;
  std::size_t below(std::size_t n) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % n);
  }
};

}  // namespace

TEST_CASE("tensor file: cut at any byte it is refused") {
  const Bytes bytes = Sample().write();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    REQUIRE(check_one(std::span(bytes).first(size)) == FileVerdict::kRefused);
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  CHECK(check_one(longer) == FileVerdict::kRefused);
}

TEST_CASE("tensor file: with any bit flipped it is refused") {
  Bytes bytes = Sample().write();
  int by_checksum = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    CAPTURE(bit);
    const std::byte flip = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= flip;
    const FileVerdict verdict = check_one(bytes);
    REQUIRE((verdict == FileVerdict::kRefused || verdict == FileVerdict::kBadChecksum));
    by_checksum += verdict == FileVerdict::kBadChecksum;
    bytes[bit / 8] ^= flip;
  }
  CHECK(by_checksum > 0);
  CHECK(check_one(bytes) == FileVerdict::kGood);
}

TEST_CASE("tensor file: hostile headers") {
  struct Hostile {
    const char* what;
    std::string header;
    std::size_t data_bytes;
    const char* reason;
    std::int64_t position = -1;  // in the file, if it is looked at
  };
  const std::string a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const auto tensor = [](const char* dtype, const char* shape, const char* offsets) {
    return R"({"a":{"dtype":)"s + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  const auto meta = [](const std::string& inside) { return R"({"__metadata__":)" + inside + "}"; };
  std::string entries = R"({"k":"v")";
  for (std::size_t i = 0; i < TensorFileLimits::kMetadata; ++i)
    entries += ",\"" + std::to_string(i) + "\":\"\"";
  const Hostile cases[] = {
      {"no header", "", 0, "not a snapshot: no header", 0},
      {"a byte order mark", "\xEF\xBB\xBF{}", 0,
       "not a snapshot: its header does not begin with a brace", 8},
      {"space first", " {}", 0, "not a snapshot: its header does not begin with a brace", 8},
      {"a list", "[]", 0, "not a snapshot: its header does not begin with a brace", 8},
      {"no end", "{", 0, "header: a string must stand here", 9},
      {"no closing brace", "{" + a, 4, "header: a comma or a closing brace must stand here"},
      {"a comma last", "{" + a + ",}", 4, "header: a string must stand here"},
      {"a comma missing", "{" + a + a + "}", 4,
       "header: a comma or a closing brace must stand here"},
      {"a colon missing", R"({"a" {}})", 0, "header: a colon must stand here", 13},
      {"a key that is no string", "{a:{}}", 0, "header: a string must stand here", 9},
      {"a tensor twice", "{" + a + "," + a + "}", 4, "header: the same tensor twice"},
      {"a tensor twice, once escaped",
       "{" + a + R"(,"\u0061":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4,
       "header: the same tensor twice"},
      {"text after the end", "{} x", 0, "header: something after its end", 11},
      {"a second object", "{}{}", 0, "header: something after its end", 10},
      {"padding with zeros", "{}\0\0"s, 0, "header: something after its end", 10},
      {"padding with line ends", "{}\n", 0, "header: something after its end", 10},
      {"a string without an end", "{\"abc", 0, "header: a string without an end", 13},
      {"a backslash last", "{\"abc\\", 0, "header: a string without an end", 13},
      {"an unknown escape", R"({"\x41":{}})", 0, "header: an escape that JSON does not have", 10},
      {"an escaped zero byte", "{\"\\\0\":{}}"s, 0, "header: an escape that JSON does not have"},
      {"three hex digits", R"({"\u123":{}})", 0, "header: an escape that JSON does not have"},
      {"a high surrogate alone", R"({"\ud800":{}})", 0, "header: half of a surrogate pair"},
      {"a low surrogate alone", R"({"\udc00":{}})", 0, "header: half of a surrogate pair"},
      {"two high surrogates", R"({"\ud800\ud800":{}})", 0, "header: half of a surrogate pair"},
      {"a control character", "{\"a\nb\":{}}", 0, "header: a control character in a string", 11},
      {"a stray continuation", "{\"\x80\":{}}", 0, "header: not UTF-8", 10},
      {"an overlong slash", "{\"\xC0\xAF\":{}}", 0, "header: not UTF-8", 10},
      {"an overlong three", "{\"\xE0\x80\x80\":{}}", 0, "header: not UTF-8", 10},
      {"a surrogate in UTF-8", "{\"\xED\xA0\x80\":{}}", 0, "header: not UTF-8", 10},
      {"beyond Unicode", "{\"\xF4\x90\x80\x80\":{}}", 0, "header: not UTF-8", 10},
      {"half a character at the end", "{\"\xF0\x9F\x98", 0, "header: not UTF-8", 10},
      {"a long name", "{\"" + std::string(256, 'n') + "\":{}}", 0,
       "header: a name that is too long", 10},
      {"a tensor that is a number", R"({"a":1})", 0, "tensor: an object must stand here", 13},
      {"a tensor that is null", R"({"a":null})", 0, "tensor: an object must stand here", 13},
      {"an empty tensor object", R"({"a":{}})", 0, "header: a string must stand here"},
      {"deep nesting", R"({"a":)" + std::string(100000, '{'), 0,
       "header: a string must stand here"},
      {"deep lists", R"({"a":{"shape":)" + std::string(100000, '['), 0,
       "header: a whole number, 0 or more, must stand here"},
      {"no dtype", R"({"a":{"shape":[],"data_offsets":[0,0]}})", 0, "tensor: a field is missing"},
      {"no shape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1, "tensor: a field is missing"},
      {"no offsets", R"({"a":{"dtype":"U8","shape":[0]}})", 0, "tensor: a field is missing"},
      {"a field twice", R"({"a":{"dtype":"U8","dtype":"U8"}})", 0, "tensor: the same field twice"},
      {"a field of somebody's own", R"({"a":{"dtype":"U8","extra":1}})", 0,
       "tensor: a field that is unknown"},
      {"an unknown dtype", tensor("\"F128\"", "[1]", "[0,16]"), 16,
       "tensor: a dtype that is unknown"},
      {"a dtype in small letters", tensor("\"u8\"", "[1]", "[0,1]"), 1,
       "tensor: a dtype that is unknown"},
      {"a dtype that is a number", tensor("8", "[1]", "[0,1]"), 1,
       "header: a string must stand here"},
      {"five dimensions", tensor("\"U8\"", "[1,1,1,1,1]", "[0,1]"), 1,
       "tensor: too many dimensions"},
      {"a negative dimension", tensor("\"U8\"", "[-1]", "[0,1]"), 1,
       "header: a whole number, 0 or more, must stand here"},
      {"a fraction", tensor("\"U8\"", "[1.0]", "[0,1]"), 1,
       "tensor: a comma or the end of the list must stand here"},
      {"an exponent", tensor("\"U8\"", "[1e0]", "[0,1]"), 1,
       "tensor: a comma or the end of the list must stand here"},
      {"a leading zero", tensor("\"U8\"", "[01]", "[0,1]"), 1,
       "header: a number with a leading zero"},
      {"a plus sign", tensor("\"U8\"", "[+1]", "[0,1]"), 1,
       "header: a whole number, 0 or more, must stand here"},
      {"a number of 63 bits and more", tensor("\"U8\"", "[9223372036854775808]", "[0,1]"), 1,
       "header: a number that is too large"},
      {"a number of 40 digits",
       tensor("\"U8\"", "[1]", "[0,1000000000000000000000000000000000000000]"), 1,
       "header: a number that is too large"},
      {"a product that wraps to 4", tensor("\"F32\"", "[4611686018427387905,1]", "[0,4]"), 4,
       "tensor: its shape is too large"},
      {"a product that wraps to 0", tensor("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0,
       "tensor: its shape is too large"},
      {"one offset", tensor("\"U8\"", "[1]", "[0]"), 1, "tensor: data_offsets must be two numbers"},
      {"three offsets", tensor("\"U8\"", "[1]", "[0,1,2]"), 1,
       "tensor: data_offsets must be two numbers"},
      {"offsets backwards", tensor("\"U8\"", "[1]", "[1,0]"), 1,
       "tensor: its data end before they begin"},
      {"data beyond the file", tensor("\"U8\"", "[5]", "[0,5]"), 4,
       "cut short: the data of a tensor are not in the file"},
      {"data far beyond the file",
       tensor("\"U8\"", "[1]", "[9223372036854775806,9223372036854775807]"), 4,
       "cut short: the data of a tensor are not in the file"},
      {"too few data for the shape", tensor("\"U8\"", "[5]", "[0,4]"), 4,
       "tensor: its shape and its data do not agree"},
      {"too many data for the shape", tensor("\"F32\"", "[1]", "[0,8]"), 8,
       "tensor: its shape and its data do not agree"},
      {"a hole at the start", tensor("\"U8\"", "[2]", "[2,4]"), 4, "tensor: a hole before its data",
       10},
      {"a hole in the middle", "{" + a + R"(,"b":{"dtype":"U8","shape":[1],"data_offsets":[5,6]}})",
       6, "tensor: a hole before its data"},
      {"an overlap", "{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", 5,
       "tensor: its data are another's, too"},
      {"the same data twice", "{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
       4, "tensor: its data are another's, too"},
      {"an empty tensor within another",
       "{" + a + R"(,"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})", 4,
       "tensor: its data are another's, too"},
      {"data that nobody has", "{" + a + "}", 5, "data: more bytes than the tensors have", 65},
      {"data without tensors", "{}", 1, "data: more bytes than the tensors have", 10},
      {"metadata twice", R"({"__metadata__":{},"__metadata__":{}})", 0, "metadata: twice"},
      {"metadata that are a list", meta("[]"), 0, "metadata: an object must stand here"},
      {"metadata that are null", meta("null"), 0, "metadata: an object must stand here"},
      {"a metadata value that is a number", meta(R"({"k":1})"), 0,
       "header: a string must stand here"},
      {"a metadata value that is an object", meta(R"({"k":{}})"), 0,
       "header: a string must stand here"},
      {"a metadata key twice", meta(R"({"k":"1","k":"2"})"), 0, "metadata: the same key twice"},
      {"a metadata key twice, once escaped", meta(R"({"k":"1","\u006B":"2"})"), 0,
       "metadata: the same key twice"},
      {"metadata without an end", R"({"__metadata__":{"k":"v")", 0,
       "metadata: a comma or a closing brace must stand here"},
      {"too many metadata", meta(entries + "}"), 0, "metadata: too many entries"},
  };
  CHECK(std::size(cases) >= 25);
  for (const Hostile& hostile : cases) {
    CAPTURE(hostile.what);
    const Bytes bytes = file_of(hostile.header, hostile.data_bytes);
    const Opened file(bytes);
    CHECK(file.status.code() == StatusCode::kCorruptData);
    CHECK(std::string(file.status.message()) == hostile.reason);
    if (hostile.position >= 0) CHECK(file.status.index() == hostile.position);
    CHECK(check_one(bytes) == FileVerdict::kRefused);
  }
}

TEST_CASE("tensor file: lengths of the header that cannot be") {
  struct Length {
    std::uint64_t length;
    const char* reason;
  };
  const Length cases[] = {
      {0, "not a snapshot: no header"},
      {3, "cut short, or not a snapshot: the header is longer than the file"},
      {TensorFileLimits::kHeaderBytes,
       "cut short, or not a snapshot: the header is longer than the file"},
      {TensorFileLimits::kHeaderBytes + 1, "not a snapshot: its header would be too long"},
      {UINT64_MAX - 7, "not a snapshot: its header would be too long"},
      {UINT64_MAX, "not a snapshot: its header would be too long"},
  };
  for (const Length& each : cases) {
    Bytes bytes = file_of("{}", 0);
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(each.length >> (8 * i));
    const Opened file(bytes);
    CHECK(std::string(file.status.message()) == each.reason);
  }
  Bytes long_header(9 + TensorFileLimits::kHeaderBytes, std::byte{' '});
  const std::uint64_t length = long_header.size() - 8;
  for (std::size_t i = 0; i < 8; ++i) long_header[i] = static_cast<std::byte>(length >> (8 * i));
  CHECK(std::string(Opened(long_header).status.message()) ==
        "not a snapshot: its header would be too long");
  TensorReader reader;
  CHECK(reader.open(nullptr, 0, {}).code() == StatusCode::kCorruptData);
  CHECK(reader.open(nullptr, 100, {}).code() == StatusCode::kCorruptData);
}

TEST_CASE("tensor file: a checksum in another spelling is refused") {
  const auto verdict = [](const std::string& digits) {
    const Bytes bytes = file_of(R"({"__metadata__":{"adapvae.checksum":")" + digits + "\"}}", 0);
    const Opened file(bytes);
    REQUIRE(file.status.ok());
    return std::string(file.reader.verify_checksum().message());
  };
  CHECK(verdict("0000000000000000") == "checksum: wrong, the file has been changed");
  CHECK(verdict("") == "checksum: not 16 lower-case hex digits");
  CHECK(verdict("000000000000000") == "checksum: not 16 lower-case hex digits");
  CHECK(verdict("000000000000000A") == "checksum: not 16 lower-case hex digits");
  CHECK(verdict("000000000000000é") == "checksum: not 16 lower-case hex digits");
  CHECK(verdict("\\u0030000000000000000") == "checksum: not 16 lower-case hex digits");
}

TEST_CASE("tensor file: mutated headers break nothing") {
  const Bytes good = Sample().write();
  const Opened file(good);
  REQUIRE(file.status.ok());
  const std::size_t data_bytes =
      good.size() - static_cast<std::size_t>(file.reader.tensors()[0].data - good.data());
  const std::string header(reinterpret_cast<const char*>(good.data()) + 8,
                           good.size() - data_bytes - 8);
  const std::string pieces[] = {"\"",
                                "\\",
                                "{",
                                "}",
                                "[",
                                "]",
                                ",",
                                ":",
                                "0",
                                "1",
                                "9",
                                "-",
                                "1e9",
                                "\\u",
                                "\\ud83d",
                                "\xF0\x9F",
                                "\xC0",
                                "\0"s,
                                " ",
                                "\"a\":\"b\"",
                                "\"dtype\":\"F64\"",
                                "[0,8]",
                                "99999999999999999999",
                                "\"shape\":[]",
                                "__metadata__",
                                "18446744073709551615"};
  Random random{20240607};
  std::size_t verdicts[4] = {};
  for (int i = 0; i < 200000; ++i) {
    std::string text = header;
    for (std::size_t change = 1 + random.below(3); change > 0; --change) {
      const std::size_t at = random.below(text.size());
      const std::size_t size = random.below(12);
      switch (random.below(6)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
          break;
        case 2:
          text.erase(at, size + 1);
          break;
        case 3:
          text.insert(at, pieces[random.below(std::size(pieces))]);
          break;
        case 4:
          text.insert(at, text.substr(random.below(text.size()), size * 8));
          break;
        default:
          text.replace(at, size, pieces[random.below(std::size(pieces))]);
          break;
      }
      if (text.empty()) text.push_back('{');
    }
    const std::size_t more = random.below(8) == 0 ? random.below(20) : 0;
    const FileVerdict verdict = check_one(file_of(text, data_bytes + more));
    CAPTURE(text);
    REQUIRE(verdict != FileVerdict::kBroken);
    ++verdicts[static_cast<int>(verdict)];
  }
  // Both ways are walked: most are refused, some differ in a name or in white space alone.
  CHECK(verdicts[static_cast<int>(FileVerdict::kRefused)] > 100000);
  CHECK(verdicts[static_cast<int>(FileVerdict::kBadChecksum)] > 1000);
}
