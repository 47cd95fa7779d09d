// Tensor files: what is written is read, by this library and by others. What must not be read is in
// test_tensor_file_hostile.cpp.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "support/tensor_file_check.h"
#include "support/tensor_file_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

template <typename T>
bool holds(const TensorReader& reader, std::string_view name, TensorType type,
           std::initializer_list<std::uint64_t> shape, const std::vector<T>& want) {
  const TensorView* tensor = reader.find(name);
  if (tensor == nullptr || !tensor->has_shape(type, shape)) return false;
  std::vector<T> got(want.size());
  if (tensor->bytes != want.size() * sizeof(T)) return false;
  tensor->copy_to(got.data());
  return want.empty() || std::memcmp(got.data(), want.data(), tensor->bytes) == 0;
}

void check_sample(const Opened& file) {
  const Sample sample;
  const TensorReader& reader = file.reader;
  CHECK(holds(reader, "bytes", TensorType::kU8, {5}, sample.bytes));
  CHECK(holds(reader, kOddName, TensorType::kF32, {1, 2, 3}, sample.floats));
  CHECK(holds(reader, "shorts", TensorType::kU16, {3}, sample.shorts));
  CHECK(holds(reader, "doubles", TensorType::kF64, {3}, sample.doubles));
  CHECK(holds(reader, "whole", TensorType::kU64, {}, std::vector{sample.whole}));
  CHECK(holds(reader, "empty", TensorType::kI64, {0, 7}, std::vector<std::int64_t>{}));
  CHECK(file.metadata("k") == "v");
  CHECK(file.metadata(kOddKey) == kOddValue);
  CHECK(file.metadata("").empty());
}

}  // namespace

TEST_CASE("tensor file: odd names, values and shapes come back") {
  const Bytes bytes = Sample().write();
  const Opened file(bytes);
  REQUIRE(file.status.ok());
  CHECK(file.reader.verify_checksum().ok());
  CHECK(file.reader.tensors().size() == 6);
  check_sample(file);
  CHECK(file.reader.find("byte") == nullptr);
  CHECK(file.reader.find("") == nullptr);
  CHECK(check_one(bytes) == FileVerdict::kGood);
}

TEST_CASE("tensor file: data are aligned") {
  const Bytes bytes = Sample().write();
  const Opened file(bytes);
  REQUIRE(file.status.ok());
  for (const TensorView& tensor : file.reader.tensors()) {
    const std::size_t offset = static_cast<std::size_t>(tensor.data - bytes.data());
    CHECK(offset % tensor_type_info(tensor.type).element_size == 0);
  }
  CHECK((file.reader.tensors()[0].data - bytes.data()) % 64 == 0);
}

TEST_CASE("tensor file: bytes at any alignment can be read") {
  const Bytes bytes = Sample().write();
  for (std::size_t shift = 0; shift < 9; ++shift) {
    CAPTURE(shift);
    Bytes moved(bytes.size() + shift);
    std::memcpy(moved.data() + shift, bytes.data(), bytes.size());
    TensorView room[16];
    TensorReader reader;
    REQUIRE(reader.open(moved.data() + shift, bytes.size(), room).ok());
    CHECK(reader.verify_checksum().ok());
    CHECK(holds(reader, "doubles", TensorType::kF64, {3}, Sample().doubles));
  }
}

TEST_CASE("tensor file: nothing at all is a file, too") {
  const Bytes bytes = Sample::write({}, {});
  const Opened file(bytes);
  REQUIRE(file.status.ok());
  CHECK(file.reader.verify_checksum().ok());
  CHECK(file.reader.tensors().empty());
}

TEST_CASE("tensor file: metadata of any length, never cut") {
  const std::string large(5000, 'x');
  const MetadataEntry entry[] = {{"large", large}};
  const Bytes bytes = Sample::write({}, entry);
  const Opened file(bytes);
  REQUIRE(file.status.ok());
  std::string out(5000, '?');
  std::size_t length = 1;
  CHECK(file.reader.metadata("large", out.data(), 4999, &length).code() ==
        StatusCode::kOutOfMemory);
  CHECK(length == 5000);
  CHECK(out == std::string(5000, '?'));
  CHECK(file.reader.metadata("large", out.data(), 5000, &length).ok());
  CHECK(out == large);
  CHECK(file.reader.metadata("small", out.data(), 5000, &length).code() ==
        StatusCode::kInvalidArgument);
  CHECK(length == 0);
}

TEST_CASE("tensor file: elements are turned round for the other order of bytes") {
  const std::uint8_t from[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::uint8_t to[8] = {};
  reverse_elements(to, from, 8, 8);
  CHECK(std::vector<int>(to, to + 8) == std::vector<int>{8, 7, 6, 5, 4, 3, 2, 1});
  reverse_elements(to, from, 8, 4);
  CHECK(std::vector<int>(to, to + 8) == std::vector<int>{4, 3, 2, 1, 8, 7, 6, 5});
  reverse_elements(to, from, 8, 2);
  CHECK(std::vector<int>(to, to + 8) == std::vector<int>{2, 1, 4, 3, 6, 5, 8, 7});
  reverse_elements(to, from, 8, 1);
  CHECK(std::vector<int>(to, to + 8) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("tensor file: the writer refuses what the reader would") {
  const float number = 1.0F;
  const TensorSource good{"a", TensorType::kF32, 0, {}, &number};
  const std::string long_name(256, 'n');
  const std::string large(TensorFileLimits::kHeaderBytes, 'x');
  const std::uint64_t huge = std::uint64_t{1} << 40;
  const TensorSource bad[] = {
      {"\xff", TensorType::kF32, 0, {}, &number},
      {"\xc0\x80", TensorType::kF32, 0, {}, &number},
      {"\xed\xa0\x80", TensorType::kF32, 0, {}, &number},
      {"\xf4\x90\x80\x80", TensorType::kF32, 0, {}, &number},
      {long_name, TensorType::kF32, 0, {}, &number},
      {"__metadata__", TensorType::kF32, 0, {}, &number},
      {"b", static_cast<TensorType>(kTensorTypes), 0, {}, &number},
      {"b", TensorType::kF32, 5, {}, &number},
      {"b", TensorType::kF32, -1, {}, &number},
      {"b", TensorType::kF32, 2, {huge, huge}, &number},
      {"b", TensorType::kF32, 0, {}, nullptr},
      good,
  };
  std::size_t size = 17;
  for (const TensorSource& second : bad) {
    CAPTURE(&second - bad);
    const TensorSource two[] = {good, second};
    const Status status = tensor_file_size({two, {}}, &size);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.index() == 1);
  }
  const MetadataEntry bad_metadata[] = {
      {"\xff", "v"}, {"k", "\x80"}, {long_name, "v"}, {kChecksumKey, "0"}, {"a", "again"}};
  for (const MetadataEntry& second : bad_metadata) {
    const MetadataEntry two[] = {{"a", "v"}, second};
    const Status status = tensor_file_size({{}, two}, &size);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.index() == 1);
  }
  const MetadataEntry too_large[] = {{"k", large}};
  CHECK(tensor_file_size({{}, too_large}, &size).code() == StatusCode::kInvalidArgument);
  const std::vector<TensorSource> many(TensorFileLimits::kTensors + 1, good);
  CHECK(tensor_file_size({many, {}}, &size).code() == StatusCode::kInvalidArgument);
  const std::vector<MetadataEntry> entries(TensorFileLimits::kMetadata, MetadataEntry{"k", "v"});
  CHECK(tensor_file_size({{}, entries}, &size).code() == StatusCode::kInvalidArgument);
  CHECK(size == 17);
}

TEST_CASE("tensor file: too little memory is refused and left alone") {
  const Sample sample;
  std::size_t size = 0;
  REQUIRE(tensor_file_size({sample.tensors, sample.metadata}, &size).ok());
  Bytes out(size, std::byte{0x5A});
  std::size_t written = 3;
  CHECK(
      write_tensor_file({sample.tensors, sample.metadata}, out.data(), size - 1, &written).code() ==
      StatusCode::kOutOfMemory);
  CHECK(out == Bytes(size, std::byte{0x5A}));
  CHECK(written == 3);
}

TEST_CASE("tensor file: too little room for the tensors is told") {
  const Bytes bytes = Sample().write();
  TensorView room[5];
  TensorReader reader;
  const Status status = reader.open(bytes.data(), bytes.size(), room);
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(reader.tensors().empty());
}

TEST_CASE("tensor file: as many tensors and as long a header as the limits allow") {
  const std::uint8_t number = 7;
  std::vector<std::string> name(TensorFileLimits::kTensors);
  std::vector<TensorSource> tensors;
  for (std::size_t i = 0; i < name.size(); ++i) {
    name[i] = std::string(250, 'n') + std::to_string(1000 + i);
    tensors.push_back({name[i], TensorType::kU8, 0, {}, &number});
  }
  const Bytes bytes = Sample::write(tensors, {});
  std::vector<TensorView> room(name.size());
  TensorReader reader;
  REQUIRE(reader.open(bytes.data(), bytes.size(), room).ok());
  CHECK(reader.verify_checksum().ok());
  for (const std::string& each : name) REQUIRE(reader.find(each) != nullptr);
}

TEST_CASE("tensor file: files of other tools, in any order and with white space") {
  const Bytes bytes = file_of(
      "{\n\t\"b\" : { \"shape\":[ 2 , 1 ] ,\r\n\"data_offsets\":[4,6],\"dtype\":\"I8\"},"
      R"("a\/\ud83d\ude00\u00E9":{"dtype":"\u0055\u0038","shape":[4],"data_offsets":[0,4]},)"
      R"("none":{"dtype":"F64","shape":[0],"data_offsets":[4,4]},)"
      R"("__metadata__":{"\u006b":"\u0000\b\f\n\r\t\"\\\/"}})"
      "   ",
      6);
  const Opened file(bytes);
  REQUIRE(file.status.ok());
  REQUIRE(file.reader.tensors().size() == 3);
  CHECK(file.reader.find("a/😀é") == &file.reader.tensors()[0]);
  CHECK(file.reader.find("none") == &file.reader.tensors()[1]);
  CHECK(file.reader.find("b") == &file.reader.tensors()[2]);
  CHECK(file.reader.find("b")->has_shape(TensorType::kI8, {2, 1}));
  CHECK_FALSE(file.reader.find("b")->has_shape(TensorType::kI8, {2}));
  CHECK_FALSE(file.reader.find("b")->has_shape(TensorType::kU8, {2, 1}));
  CHECK(file.metadata("k") == "\0\b\f\n\r\t\"\\/"s);
  CHECK(std::string(file.reader.verify_checksum().message()) == "checksum: there is none");
  CHECK(check_one(bytes) == FileVerdict::kBadChecksum);
}

// Run by tests/reference/tensor_file_exchange.py, which writes one file and checks the other.
TEST_CASE("tensor file: exchange with the reference" * doctest::skip()) {
  const char* directory = std::getenv("ADAPVAE_EXCHANGE_DIRECTORY");
  REQUIRE(directory != nullptr);
  for (const char* name : {"/reference.safetensors", "/reference_shuffled.safetensors"}) {
    std::ifstream in(std::string(directory) + name, std::ios::binary);
    REQUIRE(in.good());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    const Opened file(bytes);
    REQUIRE(file.status.ok());
    CHECK(file.reader.verify_checksum().ok());
    check_sample(file);
  }
  const Bytes bytes = Sample().write();
  std::ofstream out(std::string(directory) + "/library.safetensors", std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  CHECK(out.good());
}
