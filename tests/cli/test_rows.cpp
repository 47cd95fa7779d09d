// The readers of the program, on files of awkward and hostile content.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/row_source.h"

namespace {

using namespace adapvae::cli;

// What a source gives, as text: numbers with blanks between, '=' and the label, '|' behind each
// row; at the end "! " and the error, if there is one, without the file's name.
std::string rows_of(const std::string& bytes, const SourceOptions& options) {
  const int file = memfd_create("rows", 0);
  REQUIRE(file >= 0);
  REQUIRE(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  std::string out;
  std::string error;
  Row row;
  const std::unique_ptr<RowSource> source = open_rows({path}, options, error);
  while (source) {
    const Next next = source->next(row);
    if (next == Next::kError) error = source->error();
    if (next != Next::kRow) break;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      char text[32];
      std::snprintf(text, sizeof text, "%s%.9g", i > 0 ? " " : "",
                    static_cast<double>(row.values[i]));
      out += text;
    }
    if (!options.labels.empty()) out += "=" + row.label;
    out += "|";
  }
  close(file);
  if (error.empty()) return out;
  const std::size_t at = error.find(path);
  if (at != std::string::npos) error.erase(at, path.size());
  return out + "! " + error;
}

struct Case {
  std::string bytes;
  std::string expected;  // the whole text, or what it begins with if it holds an error
};

void check(const Case& c, const SourceOptions& options) {
  const std::string got = rows_of(c.bytes, options);
  CAPTURE(c.bytes);
  CAPTURE(c.expected);
  CAPTURE(got);
  if (c.expected.find('!') == std::string::npos) {
    CHECK(got == c.expected);
  } else {
    CHECK(got.starts_with(c.expected));
  }
}

SourceOptions labelled(const char* labels) {
  SourceOptions options;
  options.labels = labels;
  options.missing = Missing::kRefuse;
  return options;
}

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    out += static_cast<char>(header.size() >> (8 * i) & 255U);
  }
  return out + header + data;
}

// Two rows of three numbers.
const std::string kFloats("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40",
                          24);

std::string text(std::size_t count, char c) { return std::string(count, c); }

}  // namespace

TEST_CASE("CSV: the rules of RFC 4180") {
  const Case cases[] = {
      {"1,2,x\r\n3,4,y\r\n", "1 2=x|3 4=y|"},                // rule 1
      {"1,2,x\r\n3,4,y", "1 2=x|3 4=y|"},                    // 2: no end of the last line
      {"1,2,x\n3,4,y\n", "1 2=x|3 4=y|"},                    // LF alone
      {"1,,x\n", "! , line 1, column 2: no value"},          // 4: an empty field
      {"1,2,\n3,4,\n", "1 2=|3 4=|"},                        // an empty field at the end
      {"\"1\",\"2\",\"x\"\n", "1 2=x|"},                     // 5: quotes
      {"1,2,\"a,b\"\n", "1 2=a,b|"},                         // 6: separators in quotes
      {"1,2,\"a\nb\"\n3,4,c\n", "1 2=a\nb|3 4=c|"},          // 6: LF in quotes
      {"1,2,\"a\r\nb\"\r\n3,4,c\r\n", "1 2=a\r\nb|3 4=c|"},  // 6: CRLF in quotes
      {"1,2,\"a\r\n\r\n\n\"\r\n", "1 2=a\r\n\r\n\n|"},       // several
      {"1,2,\"\n\"\n3,4,\"\n\"\n", "1 2=\n|3 4=\n|"},
      {"1,2,\"a\"\"b\"\n", "1 2=a\"b|"},  // 7: quotes in quotes
      {"1,2,\"\"\"\"\n", "1 2=\"|"},
      {"1,2,\"\"\"\n\"\"\"\n", "1 2=\"\n\"|"},
      {"1,2,\"\"\n", "1 2=|"},
      {"1,\"2\n\",x\n", "! , line 1, column 2: '2\n' is no number"},
      // Fields before and behind one of several lines.
      {"p,\"q\nr\",s,\"t\"\n1,2,5,x\n", "! , line 3, column 4 (t): 'x' is no number"},
      {"1,\"3\",\"x\ny\"\n", "1 3=x\ny|"},
      {"5,6,\"x\ny\" \n7, \"8\" , \"z\"\n", "5 6=x\ny|7 8=z|"},
      // Lenient: a quote in a field that does not begin with one is a character.
      {"1,2,5\" pipe\n3,4,a\"b\"\n", "1 2=5\" pipe|3 4=a\"b\"|"},
      // Blanks around fields, empty lines, a byte order mark.
      {" 1 , 2 , x y \n\n   \n3,4,z\n", "1 2=x y|3 4=z|"},
      {"\xEF\xBB\xBF"
       "1,2,x\n",
       "1 2=x|"},
      {"\xEF\xBB\xBF"
       "\"1\",2,x\n",
       "1 2=x|"},
      {"1;2;\"a;b,c,d,e\"\n", "1 2=a;b,c,d,e|"},  // separators are counted outside quotes
      {"1\t2\t\"a\tb\"\n", "1 2=a\tb|"},
      {"\"a,\nb\";c;\"d\"\n1;2;x\n", "1 2=x|"},  // in the whole of the first record
      {"5\" a;5\" b;5\" c\n1;2;x\n", "1 2=x|"},
      // Errors, with the physical line.
      {"1,2,x\n3,4,\"y\"z\n", "1 2=x|! , line 2, column 3: something follows a closing quote"},
      {"1,2,\"a\nb\"c\n", "! , line 2, column 3: something follows a closing quote"},
      {"1,2,x\n3,4,\"y\n5,6,z\n",
       "1 2=x|! , line 2, column 3: the quote that begins here is not closed before the end"},
      {"1,2,\"a\n\nb\"\n3,oops,c\n", "1 2=a\n\nb|! , line 4, column 2: 'oops' is no number"},
      {"1,2,\"a\nb\"\n3,4\n", "1 2=a\nb|! , line 3: 2 columns where the first line has 3"},
      {"1,2,x\n\"3\n\",4,\"y\"\n", "1 2=x|! , line 2, column 1: '3\n' is no number"},
      {"\xFF\xFE"
       "1\0,\0",
       "! , line 1: text in UTF-16; save it as UTF-8"},
      {"1,1e400,x\n", "! , line 1, column 2: '1e400' is not a finite number of single precision"},
      {"1,1e-400,x\n", "1 0=x|"},
  };
  for (const Case& c : cases) check(c, labelled("3"));
  // An error behind a field of several lines names the line in which its own field begins.
  check({"x,1,2\n\"a\nb\",3,oops\n", "1 2=x|! , line 3, column 3: 'oops' is no number"},
        labelled("1"));
  check({"x,\"p\nq\",y\n1,2,3\n", "1 3=2|"}, labelled("p\nq"));
  check({"x,x\n1,2\n", "! : several columns are named 'x'"}, labelled("x"));
  // Tabs alone are a row of a TSV file.
  SourceOptions tsv;
  tsv.format = Format::kTsv;
  tsv.missing = Missing::kRefuse;
  check({"1\t2\n\t\n", "1 2|! , line 2, column 1: no value"}, tsv);
}

TEST_CASE("CSV: a quote that is not closed is refused soon, in bounded memory") {
  const std::string line = "1,2,x\n";
  std::string bytes = "1,2,\"x\n";
  for (int i = 0; i < 1'000'000; ++i) bytes += line;
  check({bytes, "! , line 1, column 3: the quote that begins here is not closed within 1 MiB"},
        labelled("3"));
  // Fields of many short lines take time in proportion to them.
  std::string long_field = "1,2,\"";
  for (int i = 0; i < 500'000; ++i) long_field += "\n";
  check({long_field + "\"\n", "! , row 1: a label of more than 1024 bytes"}, labelled("3"));
}

TEST_CASE("more columns than a model takes are refused, in bounded memory") {
  const auto numbers = [](int count) {
    std::string out = "1";
    for (int i = 1; i < count; ++i) out += ",1";
    return out;
  };
  check({numbers((1 << 20) + 1), "! , line 1, more than 1048576 columns"}, {});
  check({"[" + numbers((1 << 20) + 1) + "]", "! , line 1, more than 1048576 columns"}, {});
  check({"2,1\n" + numbers(3'000'000), "2 1|! , line 2, more than 1048576 columns"}, {});
  const std::string most = rows_of(numbers(1 << 20), {});
  CHECK(most.size() == 2 * (1 << 20));
  CHECK(rows_of("[" + numbers(1 << 20) + "]", {}) == most);
}

TEST_CASE("missing values: filled, refused, skipped, or the last ones again") {
  const std::string csv = "a,b\n1,2\n,4\nNA,\n5,nan\n7,8\n";
  SourceOptions options;
  const auto with = [&options](Missing missing) {
    options.missing = missing;
    return options;
  };
  check({csv, "1 2|nan 4|5 nan|7 8|"}, with(Missing::kFill));  // the empty row is left out
  check({csv, "1 2|! , line 3, column 1 (a): no value; --missing skip"}, with(Missing::kRefuse));
  check({csv, "1 2|7 8|"}, with(Missing::kSkip));
  check({csv, "1 2|1 4|1 4|5 4|7 8|"}, with(Missing::kLast));
  const std::string nan("\0\0\xc0\x7f", 4);
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  check({npy(header, nan + kFloats.substr(4)), "nan 2 3|4 5 6|"}, with(Missing::kFill));
  check({npy(header, nan + nan + nan + kFloats.substr(12)), "4 5 6|"}, with(Missing::kFill));
  check(
      {npy(header, nan + kFloats.substr(4)), "! , row 1: a number that is not finite; a new model"},
      with(Missing::kRefuse));
}

TEST_CASE("JSON lines: values") {
  const Case cases[] = {
      {"[1,2,\"x\"]\n[3,4,\"y\"]\n", "1 2=x|3 4=y|"},
      {"[1,2,\"x\"]\r\n\r\n \t\n  [3 , 4 , \"y\" ]  \r\n", "1 2=x|3 4=y|"},
      {"\xEF\xBB\xBF[1,2,\"x\"]", "1 2=x|"},
      {"\n\n [1,2,\"x\"]", "1 2=x|"},
      {"[1,2,\"\\u00e9\"]", "1 2=\xC3\xA9|"},
      {"[1,2,\"\\ud83d\\ude00\"]", "1 2=\xF0\x9F\x98\x80|"},
      {"[1,2,\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "1 2=\"\\/\b\f\n\r\t|"},
      {"[1,2,\"a\\u0000b\"]", std::string("1 2=a\0b|", 8)},
      {"[true,false,null]", "1 0=|"},
      {"[\"1.5\",-0,7]", "1.5 -0=7|"},
      {"[1E+2,1e-400,0]", "100 0=0|"},
      {"[123456789012345678901234567890,-1.5e-3,0]", "1.23456789e+29 -0.00150000001=0|"},
      {"[0.1000000000000000055511151231257827021181583404541015625,9007199254740993,0]",
       "0.100000001 9.00719925e+15=0|"},
  };
  for (const Case& c : cases) check(c, labelled("3"));
  const Case objects[] = {
      {"{\"a\":1,\"b\":2,\"c\":\"x\"}\n{\"c\":\"y\",\"b\":4,\"a\":3}\n{\"a\":5,\"z\":0,\"b\":6}\n",
       "1 2=x|3 4=y|5 6=|"},
      {"{\"\\u0061\":1,\"c\":\"x\"}\n{\"a\":2,\"\\u0063\":\"y\"}\n", "1=x|2=y|"},
      {"{\"\":1,\"c\":\"x\"}\n", "1=x|"},
      {"{\"a\":1,\"c\":\"x\"}\n{\"c\":\"y\"}\n", "1=x|! , line 2, column 1 (a): no value"},
  };
  for (const Case& c : objects) check(c, labelled("c"));
}

TEST_CASE("JSON lines: what is refused") {
  const Case cases[] = {
      {"[1,2]\n[1,NaN]", "1 2|! , line 2, column 2: NaN is not valid JSON; write null"},
      {"[Infinity]", "! , line 1, column 1: Infinity is not valid JSON"},
      {"[-Infinity]", "! , line 1, column 1: -Infinity is not valid JSON"},
      {"[nan]", "! , line 1, column 1: 'nan' is not a JSON value"},
      {"[1e400]", "! , line 1, column 1: '1e400' is not a finite number"},
      {"[1e39]", "! , line 1, column 1: '1e39' is not a finite number of single precision"},
      {"{\"a\":{}}", "! , line 1, column 1 (a): only numbers"},
      {"[1,[2]]", "! , line 1, column 2: only numbers"},
      {text(5'000'000, '['), "! , line 1, not valid JSON"},
      {text(1'000'000, '[') + text(1'000'000, ']'), "! , line 1, column 1: only numbers"},
      {"{\"a\":1,\"a\":2}", "! , line 1, the name 'a' occurs twice"},
      {"{\"a\":1,\"\\u0061\":2}", "! , line 1, the name 'a' occurs twice"},
      {"[1]x", "! , line 1, not valid JSON"},
      {"[1]]", "! , line 1, something follows the JSON value"},
      {"[1][2]", "! , line 1, something follows the JSON value"},
      {"[1", "! , line 1, not valid JSON"},
      {"{\"a\":1", "! , line 1, not valid JSON"},
      {"[1 2]", "! , line 1, character 4: not valid JSON"},
      {"[1,]", "! , line 1, column 2: a value is missing"},
      {"[,1]", "! , line 1, column 1: a value is missing"},
      {"{\"a\":}", "! , line 1, column 1 (a): a value is missing"},
      {"{\"a\" 1}", "! , line 1, character 6: not valid JSON"},
      {"{a:1}", "! , line 1, character 2: not valid JSON"},
      {"[01]", "! , line 1, column 1: '01' is not a JSON value"},
      {"[+1]", "! , line 1, column 1: '+1' is not a JSON value"},
      {"[.5]", "! , line 1, column 1: '.5' is not a JSON value"},
      {"[1.]", "! , line 1, column 1: '1.' is not a JSON value"},
      {"[0x10]", "! , line 1, column 1: '0x10' is not a JSON value"},
      {"[tru]", "! , line 1, column 1: 'tru' is not a JSON value"},
      {"[nulls]", "! , line 1, column 1: 'nulls' is not a JSON value"},
      {"['a']", "! , line 1, column 1: ''a'' is not a JSON value"},
      {"[\"a]", "! , line 1, not valid JSON, a string is not closed"},
      {"[\"\\x41\"]", "! , line 1, column 1: a string with an escape"},
      {"[\"\\ud83d\"]", "! , line 1, column 1: a string with an escape"},
      {"[\"\\ude00\"]", "! , line 1, column 1: a string with an escape"},
      {"[\"\\ud83d\\u0041\"]", "! , line 1, column 1: a string with an escape"},
      {"[\"\\u00\"]", "! , line 1, column 1: a string with an escape"},
      {"[\"a\tb\"]", "! , line 1, not valid JSON, a string holds a control character"},
      {"[\"\xFF\"]", "! , line 1, text that is not valid UTF-8"},
      {"[\"\xC3\"]", "! , line 1, text that is not valid UTF-8"},
      {"[\"\xED\xA0\x80\"]", "! , line 1, text that is not valid UTF-8"},
      {"[\"\xC0\x80\"]", "! , line 1, text that is not valid UTF-8"},
      {"[1]\n7\n", "1|! , line 2, a JSON line is an array or an object"},
      {"[1]\n\"x\"\n", "1|! , line 2, a JSON line is an array or an object"},
      {"[1]\n{\"a\":1}\n", "1|! , line 2: an object where the first line is an array"},
      {"{\"a\":1}\n[1]\n", "1|! , line 2: an array where the first line is an object"},
      {"[1,2]\n[1]\n", "1 2|! , line 2: 1 columns where the first line has 2"},
      {"[]", "! : no column is left"},
      {"[\"" + text(1 << 24, 'x') + "\"]", "! : a line of more than 8.4 MB"},
  };
  for (const Case& c : cases) check(c, {});
}

TEST_CASE("JSON lines: many names in another order on every line take time in proportion") {
  std::string lines;
  for (int line = 0; line < 4; ++line) {
    lines += '{';
    for (int i = 0; i < 20'000; ++i) {
      const int name = line % 2 == 0 ? i : 19'999 - i;
      lines += (i > 0 ? ",\"" : "\"") + std::to_string(name) + "\":" + std::to_string(name % 7);
    }
    lines += "}\n";
  }
  const std::string rows = rows_of(lines, {});
  const std::string first = rows.substr(0, rows.find('|') + 1);
  CHECK(rows == first + first + first + first);
}

TEST_CASE("NPY: headers") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const auto with = [](const std::string& descr, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const auto bytes = [](std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) out += static_cast<char>(value);
    return out;
  };
  const Case cases[] = {
      {npy(good, kFloats), "1 2 3|4 5 6|"},
      {npy(good + "      \n", kFloats), "1 2 3|4 5 6|"},
      {npy(good, kFloats, 2), "1 2 3|4 5 6|"},
      {npy(good, kFloats, 3), "1 2 3|4 5 6|"},
      {npy("{'shape':(3,2),'descr':\"<f4\",'fortran_order':False}", kFloats), "1 2|3 4|5 6|"},
      {npy(" {\n'fortran_order' : False , 'shape' : ( 2 , 3 ) , 'descr' : '<f4' }", kFloats),
       "1 2 3|4 5 6|"},
      // A value that looks like another key.
      {npy("{'fortran_order': False, 'descr': \"'shape': (9,)\", 'shape': (2, 3)}", kFloats),
       "! : numbers of type ''shape': (9,)' cannot be read"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 'True'}", kFloats),
       "! : damaged NPY header: the key 'x' is not known"},
      {npy(with("'<f4'", "(6,)"), kFloats), "1|2|3|4|5|6|"},
      {npy(with("'<f4'", "(6L,)"), kFloats), "1|2|3|4|5|6|"},
      {npy(with("'<f4'", "(2, 3L)"), kFloats), "1 2 3|4 5 6|"},
      {npy(with("'<f4'", "()"), kFloats.substr(0, 4)), "! : a single number, of shape (), has no"},
      {npy(with("'<f4'", "(6)"), kFloats), "! : damaged NPY header: 'shape' is not a tuple"},
      {npy(with("'<f4'", "6"), kFloats), "! : damaged NPY header: 'shape' is not a tuple"},
      {npy(with("'<f4'", "(2 3)"), kFloats), "! : damaged NPY header: ',' is missing in 'shape'"},
      {npy(with("'<f4'", "(-2, 3)"), kFloats), "! : damaged NPY header: 'shape' does not consist"},
      {npy(with("'<f4'", "(2.0, 3)"), kFloats), "! : damaged NPY header: ',' is missing in"},
      {npy(with("'<f4'", "(2, 0)"), ""), "! : no rows: a size in the NPY shape is 0"},
      {npy(with("'<f4'", "(0, 3)"), ""), "! : no rows: a size in the NPY shape is 0"},
      {npy(with("'<f4'", "(4294967296, 4294967296)"), kFloats), "! : the NPY shape asks for more"},
      {npy(with("'<f4'", "(0, 9223372036854775807, 3)"), kFloats), "! : the NPY shape asks for"},
      {npy(with("'<f4'", "(2305843009213693952, 8)"), kFloats), "! : the NPY shape asks for more"},
      {npy(with("'<f4'", "(99999999999999999999, 1)"), kFloats), "! : damaged NPY header: a size"},
      {npy(with("'<f4'", "(1, 1, 1, 2, 3)"), kFloats), "! : an array of 1 to 4 dimensions"},
      {npy(with("'<f4'", "(2, 4)"), kFloats), "! : truncated, or a damaged shape"},
      {npy(with("'<f4'", "(2, 2)"), kFloats), "! : 8 bytes too many"},
      {npy(with("'<f4'", "(2, 3)"), kFloats.substr(0, 23)), "! : truncated, or a damaged shape"},
      {npy(with("'|u1'", "(2, 2)"), bytes({0, 255, 51, 102})), "0 1|0.200000003 0.400000006|"},
      {npy(with("'|b1'", "(1, 2)"), bytes({0, 1})), "0 1|"},
      {npy(with("'|i1'", "(1, 2)"), bytes({255, 1})), "-1 1|"},
      {npy(with("'<i2'", "(1, 2)"), bytes({255, 255, 2, 1})), "-1 258|"},
      {npy(with("'>i2'", "(1, 2)"), bytes({255, 255, 2, 1})), "-1 513|"},
      {npy(with("'>u2'", "(1, 1)"), bytes({255, 254})), "65534|"},
      {npy(with("'>i4'", "(1, 1)"), bytes({0, 0, 1, 0})), "256|"},
      {npy(with("'<u4'", "(1, 1)"), bytes({255, 255, 255, 255})), "4.2949673e+09|"},
      {npy(with("'<i8'", "(1, 1)"), text(8, '\xFF')), "-1|"},
      {npy(with("'<u8'", "(1, 1)"), text(8, '\xFF')), "1.84467441e+19|"},
      {npy(with("'>f8'", "(1, 1)"), bytes({0x3f, 0xf8, 0, 0, 0, 0, 0, 0})), "1.5|"},
      {npy(with("'<f8'", "(1, 1)"), bytes({0, 0, 0, 0, 0, 0, 0xf0, 0x7f})), "! , row 1: a number"},
      {npy(with("'<f2'", "(2, 3)"), kFloats), "! : numbers of type '<f2' cannot be read; save"},
      {npy(with("'<c8'", "(3,)"), kFloats), "! : numbers of type '<c8' cannot be read"},
      {npy(with("'|O'", "(3,)"), kFloats), "! : numbers of type '|O' cannot be read"},
      {npy(with("'<U4'", "(3,)"), kFloats), "! : numbers of type '<U4' cannot be read"},
      {npy(with("'<M8[ns]'", "(3,)"), kFloats), "! : numbers of type '<M8[ns]' cannot be read"},
      {npy(with("'|f4'", "(2, 3)"), kFloats), "! : numbers of type '|f4' cannot be read"},
      {npy(with("[('a', '<f4'), ('b', '<f4')]", "(3,)"), kFloats), "! : an array of records"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", kFloats),
       "! : an array in Fortran order; save numpy.ascontiguousarray(it)"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", kFloats), "1|2|3|4|5|6|"},
      {npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (6,), }", kFloats),
       "! : damaged NPY header: 'fortran_order' is neither"},
      {npy("{'descr': '<f4', 'shape': (6,), }", kFloats),
       "! : damaged NPY header: 'fortran_order' "},
      {npy("{'descr': '<f4', 'fortran_order': False}", kFloats), "! : damaged NPY header: 'shape'"},
      {npy("{'fortran_order': False, 'shape': (6,)}", kFloats),
       "! : damaged NPY header: 'descr' is"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", kFloats),
       "! : damaged NPY header: the key 'descr' occurs twice"},
      {npy(good + " x", kFloats), "! : damaged NPY header: something follows the dictionary"},
      {npy(good + text(1, '\0'), kFloats), "! : damaged NPY header: something follows"},
      {npy("{'descr': '<f4'", kFloats), "! : damaged NPY header: ',' is missing behind a value"},
      {npy("{'descr", kFloats), "! : damaged NPY header: a key in quotes is missing"},
      {npy("", kFloats), "! : damaged NPY header: '{' is missing"},
      {npy(good, kFloats, 4), "! : NPY version 4.0; versions 1.0, 2.0 and 3.0 can be read"},
      {npy(good, kFloats, 0), "! : NPY version 0.0"},
      {"\x93NUMPX", "! : not an NPY file"},
      {"\x93NUMPY\x01", "! : truncated: shorter than the header"},
      {npy(good, "").substr(0, 40), "! : truncated: shorter than the header"},
      {"\x93NUMPY\x02" + text(1, '\0') + text(4, '\xFF') + kFloats,
       "! : damaged NPY header: longer"},
  };
  for (const Case& c : cases) check(c, {});
}

TEST_CASE("every beginning of an NPY file is refused with a reason") {
  const std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", kFloats);
  SourceOptions options;
  options.format = Format::kNpy;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(rows_of(whole.substr(0, size), options).starts_with("! : "));
  }
}

TEST_CASE("bytes that a divisor takes out of the range of numbers are refused") {
  SourceOptions options;
  options.divide = 1e-300;
  const std::string idx("\0\0\x08\x01\0\0\0\x02\x01\xff", 10);
  check({idx, "! : divided by so small a number"}, options);
}

TEST_CASE("labels of an IDX file are whole numbers") {
  const auto labels_of = [](const std::string& bytes) {
    const int file = memfd_create("labels", 0);
    REQUIRE(file >= 0);
    REQUIRE(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const std::string rows =
        rows_of(std::string("\0\0\x08\x01\0\0\0\x02\x00\xff", 10), labelled(path.c_str()));
    close(file);
    return rows;
  };
  const std::string header("\0\0\x0d\x01\0\0\0\x02", 8);
  CHECK(labels_of(header + std::string("\x40\x40\0\0\xbf\x80\0\0", 8)) == "0=3|1=-1|");
  const std::string nan = labels_of(header + std::string("\x40\x40\0\0\x7f\xc0\0\0", 8));
  CHECK(nan.find("label 2: not a whole number") != std::string::npos);
  const std::string huge = labels_of(header + std::string("\x7f\x7f\0\0\x7f\xc0\0\0", 8));
  CHECK(huge.find("label 1: not a whole number") != std::string::npos);
  const std::string half = labels_of(header + std::string("\x3f\0\0\0\x3f\x80\0\0", 8));
  CHECK(half.find("label 1: not a whole number") != std::string::npos);
}
