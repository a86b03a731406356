// The safetensors reader: files that Python writes, and everything that the format forbids.
#include "models/formats/safetensors.h"

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <torch/torch.h>

namespace torchstone::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Returns the bytes of a file with this header and data.
std::string file_of(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

SafeTensors parse(const std::string& bytes) {
  std::istringstream stream(bytes);
  return read_safetensors(stream, "x.safetensors");
}

template <class... Texts>
void expect_error(const std::string& bytes, Texts... texts) {
  EXPECT_THAT([&] { parse(bytes); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("x.safetensors: "), HasSubstr(texts)...)));
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"("a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

const std::string kZeros(64, '\0');

TEST(SafeTensors, ReadsWhatPythonWrote) {
  // tests/oracles/write_samples.py wrote the file with Python's safetensors. The values of each dtype count up from 0.
  const auto file = read_safetensors(TORCHSTONE_TEST_DIR "/oracles/safetensors_sample.safetensors");
  EXPECT_EQ(file.metadata.at("format"), "pt");
  ASSERT_EQ(file.tensors.size(), 12U);
  const std::vector<std::pair<std::string, torch::Dtype>> dtypes = {
      {"F64", torch::kFloat64},   {"F32", torch::kFloat32}, {"F16", torch::kFloat16},
      {"BF16", torch::kBFloat16}, {"I64", torch::kInt64},   {"I32", torch::kInt32},
      {"I16", torch::kInt16},     {"I8", torch::kInt8},     {"U8", torch::kUInt8}};
  for (const auto& [name, dtype] : dtypes) {
    EXPECT_TRUE(torch::equal(file.tensors.at(name), torch::arange(6).view({2, 3}).to(dtype))) << name;
  }
  EXPECT_TRUE(torch::equal(file.tensors.at("BOOL"), torch::tensor({true, false, true})));
  EXPECT_EQ(file.tensors.at("scalar").dim(), 0);
  EXPECT_EQ(file.tensors.at("scalar").item<float>(), 2.5F);
  EXPECT_EQ(file.tensors.at("empty").sizes().vec(), (std::vector<int64_t>{0, 4}));
}

TEST(SafeTensors, RoundTripsEveryDtypeViewsAndMetadata) {
  SafeTensors content;
  for (const auto dtype : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
                           torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool}) {
    content.tensors[c10::toString(dtype)] = torch::arange(6).view({2, 3}).to(dtype).t();
  }
  content.tensors["parameter"] = torch::ones({2}).requires_grad_();
  content.metadata = {{"note", "a \"quoted\" ü"}};
  std::stringstream stream;
  write_safetensors(stream, "round_trip.safetensors", content);
  const auto back = read_safetensors(stream, "round_trip.safetensors");
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), content.tensors.size());
  for (const auto& [name, value] : content.tensors) {
    EXPECT_EQ(back.tensors.at(name).scalar_type(), value.scalar_type());
    EXPECT_TRUE(torch::equal(back.tensors.at(name), value)) << name;
  }
}

TEST(SafeTensors, RefusesToWriteWhatTheFormatLacks) {
  SafeTensors content;
  content.tensors["c"] = torch::zeros({1}, torch::kComplexFloat);
  std::ostringstream stream;
  EXPECT_THAT(
      [&] { write_safetensors(stream, "x.safetensors", content); },
      ThrowsMessage<std::runtime_error>(HasSubstr("x.safetensors: tensor \"c\": the format has no ComplexFloat")));
}

TEST(SafeTensors, NamesAFileThatCannotBeWritten) {
  std::ofstream stream("/no/such/folder/x", std::ios::binary);
  EXPECT_THAT([&] { write_safetensors(stream, "/no/such/folder/x", {}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/no/such/folder/x: cannot be written")));
}

TEST(SafeTensors, RefusesTruncatedFilesAndTooLongHeaders) {
  expect_error("", "0 bytes long, expected at least 8");
  expect_error("abc", "3 bytes long");
  expect_error(file_of("{}").substr(0, 9), "byte 0: header of 2 bytes, but only 1 follow");
  expect_error(std::string(8, '\xff') + "{}", "byte 0: header of 18446744073709551615 bytes, at most 100000000");
  expect_error(file_of("{" + tensor("F32", "[4]", "[0,16]") + "}", kZeros.substr(0, 12)),
               "need 16 bytes of data, the file holds 12");
  EXPECT_THAT([] { read_safetensors(testing::TempDir()); },
              ThrowsMessage<std::runtime_error>(HasSubstr("no such file")));
}

TEST(SafeTensors, RefusesHeadersThatAreNoHeaders) {
  expect_error(file_of("{\"a\":"), "byte 13: the header is not JSON");
  expect_error(file_of("{\"a\": 1e999}"), "the header cannot be read");
  expect_error(file_of("[]"), "header is array, expected an object");
  expect_error(file_of("{\"a\":3}"), "tensor \"a\": number, expected an object");
  expect_error(file_of(R"({"a":{"dtype":"F32","shape":[1]}})"), "tensor \"a\": data_offsets is missing");
  expect_error(file_of(R"({"__metadata__":{"a":1}})"), "__metadata__: a is not a string");
  expect_error(file_of("{" + std::string(100000, '[')), "the header is not JSON");
  expect_error(file_of("{\"a\":" + std::string(100000, '[')), "nested deeper");
  expect_error(file_of("{\"\xff\":1}"), "the header is not JSON");
}

TEST(SafeTensors, RefusesDuplicateNames) {
  const auto one = tensor("F32", "[1]", "[0,4]");
  expect_error(file_of("{" + one + "," + one + "}", kZeros.substr(0, 4)), "duplicate name \"a\"");
  expect_error(file_of(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
               "duplicate name \"dtype\"");
}

TEST(SafeTensors, RefusesShapesAndDtypesThatCannotBe) {
  expect_error(file_of("{" + tensor("F31", "[1]", "[0,4]") + "}"),
               "tensor \"a\": dtype F31 is unknown, expected one of F64 F32");
  expect_error(file_of("{" + tensor("F32", "[-1]", "[0,4]") + "}"), "shape[0]: expected an integer from 0");
  expect_error(file_of("{" + tensor("F32", "[1.5]", "[0,4]") + "}"), "shape[0]: expected an integer");
  expect_error(file_of("{" + tensor("F32", "[18446744073709551615]", "[0,4]") + "}"), "shape[0]: expected an integer");
  expect_error(file_of("{" + tensor("F32", "[4294967296,4294967296]", "[0,0]") + "}"), "product overflows");
  expect_error(file_of("{" + tensor("F32", "[0,4294967296,4294967296]", "[0,0]") + "}"), "product overflows");
  expect_error(file_of("{" + tensor("F64", "[4611686018427387904]", "[0,0]") + "}"), "byte count overflows");
  expect_error(file_of("{" + tensor("F32", "[2]", "[0,4]") + "}", kZeros.substr(0, 4)),
               "span 4 bytes, its shape and dtype need 8");
  expect_error(file_of("{" + tensor("F32", "3", "[0,4]") + "}"), "shape: number, expected a list");
  expect_error(file_of("{" + tensor("BOOL", "[1]", "[0,1]") + "}", "\x02"), "neither 0 nor 1");
}

TEST(SafeTensors, RefusesOffsetsThatOverlapLeaveGapsOrRunOut) {
  const auto second = [](const std::string& offsets) {
    return R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}}";
  };
  const auto first = "{" + tensor("U8", "[4]", "[0,4]");
  EXPECT_EQ(parse(file_of(first + second("[4,8]"), kZeros.substr(0, 8))).tensors.size(), 2U);
  expect_error(file_of(first + second("[2,6]"), kZeros.substr(0, 6)),
               "tensor \"b\": begins at data byte 2, expected 4 (overlap)");
  expect_error(file_of(first + second("[5,9]"), kZeros.substr(0, 9)),
               "tensor \"b\": begins at data byte 5, expected 4 (gap)");
  expect_error(file_of(first + second("[4,8]"), kZeros.substr(0, 9)), "need 8 bytes of data, the file holds 9");
  expect_error(file_of("{" + tensor("U8", "[4]", "[4,0]") + "}", kZeros.substr(0, 4)), "begin <= end");
  expect_error(file_of("{" + tensor("U8", "[4]", "[0]") + "}", kZeros.substr(0, 4)), "[begin, end]");
}

// Mutations of a valid file: flipped, inserted, removed and repeated bytes, mostly in the header. Each must be read, or
// be refused with a std::runtime_error.
TEST(SafeTensors, MutatedFilesAreReadOrRefused) {
  const auto valid = file_of("{\"__metadata__\":{\"format\":\"pt\"}," + tensor("F32", "[2,3]", "[0,24]") +
                                 R"(,"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]}})",
                             kZeros.substr(0, 32));
  ASSERT_EQ(parse(valid).tensors.size(), 2U);
  const auto* wanted = std::getenv("TORCHSTONE_FUZZ_INPUTS");
  const int inputs = wanted ? std::atoi(wanted) : 5000;
  std::mt19937 random(20260823);
  const auto below = [&random](size_t n) { return random() % n; };
  const std::string alphabet = "{}[]\",:0123456789-.eEtfn\\u \xff";
  int read = 0, refused = 0;
  for (int i = 0; i < inputs; ++i) {
    auto bytes = valid;
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      const auto place = below(8) == 0 ? below(bytes.size()) : std::min(8 + below(160), bytes.size() - 1);
      switch (below(5)) {
        case 0:
          bytes[place] = static_cast<char>(random());
          break;
        case 1:
          bytes[place] = alphabet[below(alphabet.size())];
          break;
        case 2:
          bytes.insert(place, 1, alphabet[below(alphabet.size())]);
          break;
        case 3:
          bytes.erase(place, 1 + below(8));
          break;
        default:
          bytes.insert(place, bytes.substr(below(bytes.size()), below(40)));
      }
      if (bytes.size() < 9) bytes = valid;
    }
    if (below(2) == 0) {  // repair the length, so that the edit reaches the parser
      const uint64_t length = bytes.size() - 40;
      if (bytes.size() > 48) std::memcpy(bytes.data(), &length, 8);
    }
    try {
      parse(bytes);
      ++read;
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_EQ(read + refused, inputs);
  if (inputs >= 1000) {
    EXPECT_GT(refused, inputs / 2);
    EXPECT_GT(read, 0);
  }
}

}  // namespace
}  // namespace torchstone::formats
