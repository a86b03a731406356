#include "models/formats/pickle/pickle.h"

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <caffe2/serialize/inline_container.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/core/tree.h"
#include "models/formats/pickle/machine.h"

namespace torchstone::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string sample(const std::string& name) { return TORCHSTONE_TEST_DIR "/unit/models/formats/pickle/data/" + name; }

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

c10::IValue read_bytes(const std::string& bytes) {
  std::istringstream stream(bytes);
  return read_pt(stream, "memory.pt");
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const PickleError& error) {
    return error.what();
  }
  return "no error";
}
std::string error_of(const std::string& file) {
  return error_of([&] { read_pt(sample(file)); });
}

class Values : public testing::TestWithParam<std::string> {
 protected:
  c10::IValue at(const std::string& key) const { return values_.at(key); }
  torch::Tensor tensor(const std::string& key) const { return values_.at(key).toTensor(); }

 private:
  c10::Dict<c10::IValue, c10::IValue> values_ = read_pt(sample(GetParam())).toGenericDict();
};
INSTANTIATE_TEST_SUITE_P(Protocol, Values, testing::Values("values.pt", "values_protocol5.pt"),
                         [](const auto& file) { return file.index == 0 ? "Two" : "Five"; });

TEST_P(Values, TensorsOfEveryDtypeAreReadExactly) {
  const auto dtypes = at("dtypes").toGenericDict();
  EXPECT_EQ(dtypes.size(), 17U);
  for (const auto& entry : dtypes) {
    const auto value = entry.value().toTensor();
    EXPECT_EQ(dtype_name(value.scalar_type()), entry.key().toStringRef());
    const auto expected = torch::tensor({{0, 1}, {1, 0}}, torch::kDouble);
    EXPECT_TRUE(torch::equal(torch::real(value.to(torch::kComplexDouble)), expected)) << entry.key();
  }
}

TEST_P(Values, AStateDictIsADictOfTensorsWithPythonsNames) {
  const auto state = at("state_dict").toGenericDict();
  EXPECT_EQ(*state.valueType(), *c10::TensorType::get());
  EXPECT_EQ(state.at("0.weight").toTensor().sizes(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(state.at("1.num_batches_tracked").toTensor().scalar_type(), torch::kLong);
  EXPECT_EQ(state.size(), 7U);
}

TEST_P(Values, SharedStoragesStayShared) {
  const auto shared = at("shared").toTensorVector();
  ASSERT_EQ(shared.size(), 3U);
  EXPECT_EQ(shared[1].strides(), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(shared[1].sizes(), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(shared[2].storage_offset(), 4);
  shared[0].fill_(-1);
  EXPECT_EQ(shared[2].sum().item<float>(), -2);
}

TEST_P(Values, UnusualTensorsKeepTheirMeaning) {
  EXPECT_TRUE(torch::equal(tensor("parameter"), torch::full({2}, 7.0)));
  EXPECT_FALSE(tensor("parameter").requires_grad());
  EXPECT_EQ(tensor("expanded").strides(), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(tensor("expanded").sum().item<float>(), 60);
  EXPECT_EQ(tensor("scalar").dim(), 0);
  EXPECT_EQ(tensor("scalar").item<float>(), 2.5);
  EXPECT_EQ(tensor("empty").sizes(), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(tensor("conj").item<c10::complex<float>>(), c10::complex<float>(1, -2));
  EXPECT_EQ(tensor("neg").item<float>(), -2);
  EXPECT_TRUE(torch::equal(tensor("attributed"), torch::ones(3)));
  EXPECT_TRUE(torch::equal(tensor("sparse").to_dense(), torch::eye(3)));
  EXPECT_EQ(tensor("csr").layout(), torch::kSparseCsr);
  EXPECT_TRUE(torch::equal(tensor("csr").to_dense(), torch::eye(3)));
}

TEST_P(Values, PlainValuesAreMappedAsDocumented) {
  EXPECT_EQ(at("numbers").toIntVector(),
            (std::vector<int64_t>{1, -5, 300, 70000, int64_t{1} << 40, -(int64_t{1} << 62)}));
  EXPECT_EQ(at("doubles").toDoubleVector(), (std::vector<double>{0.5, std::numeric_limits<double>::infinity()}));
  const auto mixed = at("mixed").toListRef();
  ASSERT_EQ(mixed.size(), 7U);
  EXPECT_EQ(mixed[0].toInt(), 1);
  EXPECT_EQ(mixed[1].toDouble(), 2.0);
  EXPECT_EQ(mixed[2].toStringRef(), "three");
  EXPECT_TRUE(mixed[3].isNone());
  EXPECT_TRUE(mixed[4].toBool());
  EXPECT_EQ(mixed[5].toTupleRef().elements()[1].toIntVector(), std::vector<int64_t>{5});
  EXPECT_EQ(mixed[6].toGenericDict().at("six").toInt(), 6);
  EXPECT_EQ(at("complex").toComplexDouble(), c10::complex<double>(1, 2));
  EXPECT_EQ(at("integer_keys").toGenericDict().at(int64_t{1}).toStringRef(), "a");
  EXPECT_EQ(at("size").toTupleRef().elements()[1].toInt(), 3);
  EXPECT_EQ(at("dtype").toStringRef(), "torch.bfloat16");
  EXPECT_EQ(at("layout").toStringRef(), "torch.strided");
  EXPECT_EQ(at("device").toDevice(), torch::Device("cuda:1"));
  EXPECT_EQ(at("text").toStringRef(), "snow: \u2744");
  EXPECT_EQ(at("nothing").toTupleRef().elements().size(), 0U);
}

TEST(ReadPt, ReadsWhatCppPickleSaveWrites) {
  c10::Dict<std::string, torch::Tensor> weights;
  weights.insert("w", torch::arange(6).view({2, 3}).t());
  const auto bytes = torch::pickle_save(c10::ivalue::Tuple::create(weights, std::vector<int64_t>{1, 2},
                                                                   std::vector<torch::Tensor>{torch::ones(2)},
                                                                   std::vector<double>{0.5}, "text", 3));
  const auto elements = read_bytes({bytes.begin(), bytes.end()}).toTupleRef().elements().vec();
  ASSERT_EQ(elements.size(), 6U);
  EXPECT_TRUE(torch::equal(elements[0].toGenericDict().at("w").toTensor(), torch::arange(6).view({2, 3}).t()));
  EXPECT_EQ(elements[1].toIntVector(), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(torch::equal(elements[2].toTensorVector().at(0), torch::ones(2)));
  EXPECT_EQ(elements[4].toStringRef(), "text");
}

TEST(ReadPt, NamesTheFileAndWhatWasExpected) {
  EXPECT_THAT(error_of("absent.pt"), HasSubstr("absent.pt: cannot be opened"));
  EXPECT_THAT(error_of("pickle_test.cpp"), HasSubstr("cannot be opened"));
  EXPECT_THAT(error_of("legacy.pt"), HasSubstr("save it again with torch.save"));
  EXPECT_THAT(error_of("script.pt"), HasSubstr("a TorchScript program"));
  EXPECT_THAT(error_of("class.pt"), AllOf(HasSubstr("class.pt: data.pkl, byte "), HasSubstr("__main__.Thing")));
  EXPECT_THAT(error_of("set.pt"), HasSubstr("__builtin__.set"));
  EXPECT_THAT(error_of("mixed_keys.pt"), HasSubstr("all be strings or all be integers"));
  EXPECT_THAT(error_of("cyclic.pt"), HasSubstr("contains itself"));
  EXPECT_THAT(error_of("doubling.pt"), HasSubstr("values are read"));
  EXPECT_THAT(error_of("deep.pt"), HasSubstr("200 levels"));
  EXPECT_THAT(error_of("long.pt"), HasSubstr("64 bits"));
}

TEST(ReadPt, RefusesWhatIsNoWholeZip) {
  const auto whole = bytes_of(sample("values.pt"));
  ASSERT_GT(whole.size(), 1000U);
  EXPECT_THAT(error_of([] { read_bytes(""); }), HasSubstr("memory.pt: expected a zip archive"));
  EXPECT_THAT(error_of([] { read_bytes("PK"); }), HasSubstr("memory.pt: truncated or damaged"));
  EXPECT_THAT(error_of([] { read_bytes("a line of text, not a zip"); }), HasSubstr("expected a zip archive"));
  for (const size_t kept : {size_t{100}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_THAT(error_of([&] { read_bytes(whole.substr(0, kept)); }), HasSubstr("truncated or damaged")) << kept;
  }
}

// Pickles written by hand, which Python would never write.
std::string number(int32_t value) { return "J" + std::string(reinterpret_cast<const char*>(&value), 4); }
std::string text(const std::string& value) {
  const auto size = static_cast<uint32_t>(value.size());
  return "X" + std::string(reinterpret_cast<const char*>(&size), 4) + value;
}
std::string tuple(const std::string& items) { return "(" + items + "t"; }
std::string global(const std::string& module, const std::string& name) { return "c" + module + "\n" + name + "\n"; }
std::string storage(int32_t elements, const std::string& type = "FloatStorage") {
  return tuple(text("storage") + global("torch", type) + text("0") + text("cpu") + number(elements)) + "Q";
}
std::string tensor(const std::string& arguments) {
  return global("torch._utils", "_rebuild_tensor_v2") + tuple(arguments + "\x89" + "N") + "R";
}
c10::IValue run(const std::string& program, size_t storage_bytes = 40) {
  return pickle::unpickle("\x80\x02" + program + ".", [&](const std::string&) {
    auto storage = at::Storage(at::Storage::use_byte_size_t(), storage_bytes, at::getCPUAllocator());
    std::memset(storage.mutable_data(), 3, storage_bytes);
    return storage;
  });
}
std::string failure(const std::string& program) {
  return error_of([&] { run(program); });
}

TEST(Unpickle, ChecksATensorAgainstItsStorage) {
  const auto shaped = [](const std::string& sizes, const std::string& strides, int32_t offset = 0) {
    return tensor(storage(10) + number(offset) + tuple(sizes) + tuple(strides));
  };
  EXPECT_EQ(run(shaped(number(2) + number(5), number(5) + number(1))).toTensor().numel(), 10);
  EXPECT_EQ(run(shaped("", "", 9)).toTensor().dim(), 0);
  EXPECT_THAT(failure(shaped(number(2) + number(5), number(5) + number(1), 1)),
              HasSubstr("needs 11 elements, its storage has 10"));
  EXPECT_THAT(failure(shaped(number(2), number(-1))), HasSubstr("strides of at least 0, got -1"));
  EXPECT_THAT(failure(shaped(number(-2), number(1))), HasSubstr("sizes of at least 0, got -2"));
  EXPECT_THAT(failure(shaped(number(2), number(1), -1)), HasSubstr("expected an offset within 10 elements, got -1"));
  EXPECT_THAT(failure(shaped(number(2), number(1), 11)), HasSubstr("expected an offset within"));
  EXPECT_THAT(failure(shaped(number(2), "")), HasSubstr("as many strides as sizes"));
  const auto huge = number(0x7fffffff);
  EXPECT_THAT(failure(shaped(huge + huge, number(0) + number(0))), HasSubstr("elements, got the shape"));
  EXPECT_THAT(failure(shaped(huge, number(0))), HasSubstr("too often"));
  const std::string largest = std::string("\x8a\x08") + "\xff\xff\xff\xff\xff\xff\xff\x7f";
  EXPECT_THAT(failure(shaped(number(3), largest)), HasSubstr("overflow"));
  EXPECT_THAT(failure(tensor(storage(11) + number(0) + tuple("") + tuple(""))), HasSubstr("its record has 40 bytes"));
  EXPECT_THAT(failure(tensor(number(1) + number(0) + tuple("") + tuple(""))),
              HasSubstr("expected the storage of a tensor"));
}

TEST(Unpickle, BooleansAreZeroOrOneWhateverTheFileSays) {
  const auto value =
      run(tensor(storage(4, "BoolStorage") + number(0) + tuple(number(4)) + tuple(number(1)))).toTensor();
  EXPECT_EQ(value.view(torch::kByte).max().item<uint8_t>(), 1);
}

TEST(Unpickle, ChecksEveryInstruction) {
  EXPECT_THAT(failure("0"), HasSubstr("byte 2: expected a value, the stack is empty"));
  EXPECT_THAT(failure("t"), HasSubstr("expected a mark"));
  EXPECT_THAT(failure("h\x07"), HasSubstr("expected a memo 7"));
  EXPECT_THAT(failure("Na"), HasSubstr("expected a value, the stack is empty"));
  EXPECT_THAT(failure("NNa"), HasSubstr("expected a list, got None"));
  EXPECT_THAT(failure("}(Nu"), HasSubstr("a value for every key"));
  EXPECT_THAT(failure("N)R"), HasSubstr("expected a function, got None"));
  EXPECT_THAT(failure("NNb"), HasSubstr("to give attributes to, got None"));
  EXPECT_THAT(failure("NQ"), HasSubstr("expected the tuple of a storage"));
  EXPECT_THAT(failure("X\xff\xff\xff\x7f"), HasSubstr("expected 2147483647 more bytes"));
  EXPECT_THAT(failure("i"), HasSubstr("opcode 0x69"));
  EXPECT_THAT(failure(global("os", "system") + tuple(text("true")) + "R"), HasSubstr("names os.system"));
  EXPECT_THAT(failure(global("torch", "device") + tuple(text("nowhere")) + "R"), HasSubstr("byte "));
  EXPECT_THAT(error_of([] { pickle::unpickle("\x80\x01N.", {}); }), HasSubstr("expected protocol 2 to 5, got 1"));
  EXPECT_THAT(error_of([] { pickle::unpickle("\x80\x02N", {}); }), HasSubstr("expected 1 more bytes, only 0 are left"));
}

TEST(Unpickle, AMillionNestedListsAreAnErrorAndNoOverflow) {
  std::string program(1'000'000, ']');
  program += std::string(999'999, 'a');
  EXPECT_THAT(failure(program), HasSubstr("200 levels"));
}

// With strides of 0 or many references to one tensor, a few bytes of the file become large when the value is copied.
TEST(Bombs, TensorsAreCountedWithTheirRepeatedElements) {
  const auto repeated = [](int32_t elements) {
    return tensor(storage(1) + number(0) + tuple(number(elements)) + tuple(number(0)));
  };
  EXPECT_EQ(run(repeated(1 << 26)).toTensor().numel(), 1 << 26) << "256 MiB";
  EXPECT_THAT(failure(repeated((1 << 26) + 1)),
              HasSubstr("the tensors take 268435460 bytes, counting repeated elements (expected at most 268435456"));
  EXPECT_THAT(failure(tuple(repeated(1 << 25) + repeated(1 << 25) + repeated(1 << 25))), HasSubstr("take 402653184"));
  EXPECT_THAT(failure(tuple(repeated(1 << 25) + "q\x01" + "h\x01" + "h\x01")), HasSubstr("take 402653184"));
  const std::string program = "\x80\x02" + tuple("") + ".";
  EXPECT_NO_THROW(pickle::unpickle(program, {}, UINT64_MAX)) << "the size of the file does not overflow the limit";
}

TEST(Bombs, ObjectsAndKeysAreLimited) {
  EXPECT_THAT(failure("(" + std::string(6'000'001, 'N') + "l"), HasSubstr("more than 6000000 objects"));
  EXPECT_THAT(failure("}" + text(std::string(5000, 'k')) + "Ns"), HasSubstr("longer than 4096 bytes"));
}

/// Returns an archive whose directory has `copies` further entries for the record data/0, so that the entries overlap.
std::string overlapping(size_t copies) {
  std::string bytes;
  {
    caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
      bytes.append(static_cast<const char*>(data), size);
      return size;
    });
    const std::string record(1 << 20, 'x');
    writer.writeRecord("data/0", record.data(), record.size());
    writer.writeRecord("data.pkl", "\x80\x02N.", 4);
    writer.writeEndOfFile();
  }
  const auto number_at = [&](size_t place, size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + place, size);
    return value;
  };
  const std::string signature("PK\5\6", 4), zip64("PK\6\6", 4);
  const size_t end = bytes.rfind(signature), end64 = bytes.rfind(zip64);
  EXPECT_NE(end, std::string::npos);
  const bool has64 = end64 != std::string::npos;
  size_t directory = number_at(end + 16, 4);
  if (has64) directory = number_at(end64 + 48, 8);
  const size_t name_size = number_at(directory + 28, 2), extra = number_at(directory + 30, 2);
  std::string entries = bytes.substr(directory, (has64 ? end64 : end) - directory);
  const size_t before = entries.size();
  const std::string first = bytes.substr(directory, 46 + name_size + extra);
  for (size_t i = 0; i < copies; ++i) {
    std::string entry = first;
    entry[46 + name_size - 1] = static_cast<char>('a' + i);
    entries += entry;
  }
  std::string tail = bytes.substr(has64 ? end64 : end);
  const auto add = [&](size_t place, size_t size, uint64_t value) {
    uint64_t old = 0;
    std::memcpy(&old, tail.data() + place, size);
    old += value;
    std::memcpy(tail.data() + place, &old, size);
  };
  const uint64_t grown = entries.size() - before;
  if (has64) {
    add(24, 8, copies), add(32, 8, copies), add(40, 8, grown);
    add(56 + 8, 8, grown);  // the offset in the zip64 locator
  }
  const size_t end_in_tail = tail.rfind(signature);
  if (number_at(end + 8, 2) != 0xffff) add(end_in_tail + 8, 2, copies), add(end_in_tail + 10, 2, copies);
  if (number_at(end + 12, 4) != 0xffffffff) add(end_in_tail + 12, 4, grown);
  return bytes.substr(0, directory) + entries + tail;
}

TEST(Bombs, RecordsThatLieOverEachOtherAreRefusedBeforeOneIsRead) {
  EXPECT_TRUE(read_bytes(overlapping(0)).isNone());
  EXPECT_THAT(error_of([] { read_bytes(overlapping(20)); }),
              HasSubstr("memory.pt: its tensors are stored in 22020096 bytes, more than the "));
}

// Random changes of a valid file must give a value or a PickleError.
class Mutations : public testing::Test {
 protected:
  std::string mutate(std::string bytes) {
    const auto changes = std::uniform_int_distribution(1, 8)(random_);
    for (int i = 0; i < changes && !bytes.empty(); ++i) {
      const auto at = std::uniform_int_distribution<size_t>(0, bytes.size() - 1)(random_);
      const auto byte = static_cast<char>(std::uniform_int_distribution(0, 255)(random_));
      switch (std::uniform_int_distribution(0, 4)(random_)) {
        case 0:
          bytes.erase(at, std::uniform_int_distribution(1, 16)(random_));
          break;
        case 1:
          bytes.insert(at, 1, byte);
          break;
        case 2:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << (byte & 7)));
          break;
        case 3:
          bytes[at] = std::string("\xff\x7f\x80\x00", 4)[byte & 3];
          break;
        default:
          bytes[at] = byte;
      }
    }
    return bytes;
  }
  int inputs() const {
    const auto* text = std::getenv("TORCHSTONE_FUZZ_INPUTS");
    return text ? std::atoi(text) : 2000;
  }
  /// Reads every element of the value.
  static void use(const c10::IValue& value) {
    for (const auto& child : children_of(value)) use(child.value);
    if (value.isTensor() && value.toTensor().numel() < 10000) value.toTensor().to_dense().clone();
  }
  void expect_value_or_error(const std::function<c10::IValue()>& read, const std::string& what) {
    try {
      use(read());
      ++good_;
    } catch (const PickleError&) {
      ++bad_;
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
  }
  std::mt19937 random_{7};
  int good_ = 0, bad_ = 0;
};

TEST_F(Mutations, OfAZipEndInAValueOrAPickleError) {
  const auto whole = bytes_of(sample("values.pt"));
  for (int i = 0; i < inputs() / 2; ++i) {
    const auto bytes = mutate(whole);
    expect_value_or_error([&] { return read_bytes(bytes); }, "input " + std::to_string(i));
  }
  EXPECT_GT(bad_, good_ / 100);
}

TEST_F(Mutations, OfAPickleEndInAValueOrAPickleError) {
  caffe2::serialize::PyTorchStreamReader archive(sample("values.pt"));
  const auto [data, size] = archive.getRecord("data.pkl");
  const std::string pickle(static_cast<const char*>(data.get()), size);
  const auto load = [&](const std::string& key) {
    if (!archive.hasRecord("data/" + key)) throw std::invalid_argument("no such record");
    auto [bytes, length] = archive.getRecord("data/" + key);
    return at::Storage(at::Storage::use_byte_size_t(), length, std::move(bytes));
  };
  EXPECT_NO_THROW(pickle::unpickle(pickle, load));
  for (int i = 0; i < inputs(); ++i) {
    const auto bytes = mutate(pickle);
    expect_value_or_error([&] { return pickle::unpickle(bytes, load); }, "input " + std::to_string(i));
  }
  EXPECT_GT(good_, 0);
  EXPECT_GT(bad_, 0);
}

}  // namespace
}  // namespace torchstone::formats
