#include "models/formats/pickle/pickle.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <istream>
#include <map>
#include <stdexcept>
#include <string_view>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/formats/model_file.h"
#include "models/formats/pickle/machine.h"

namespace torchstone::formats::pickle {
namespace {

// A stride of 0 or a sparse tensor can claim any number of elements; no real one of these is near the limits.
constexpr int64_t most_elements = int64_t{1} << 40;
constexpr int64_t most_repeated_elements = int64_t{1} << 28;
constexpr size_t most_dimensions = 64;

std::vector<int64_t> integers(const std::vector<Object*>& arguments, size_t index, const char* expected) {
  std::vector<int64_t> values;
  const auto& items = argument<Tuple>(arguments, index, expected).items;
  if (items.size() > most_dimensions)
    throw std::invalid_argument(fmt::format("expected at most {} dimensions", most_dimensions));
  for (size_t i = 0; i < items.size(); ++i) {
    values.push_back(argument<int64_t>(items, i, expected));
    if (values.back() < 0) throw std::invalid_argument(fmt::format("expected {}, got {}", expected, values.back()));
  }
  return values;
}

int64_t count(const std::vector<int64_t>& sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  int64_t elements = 1;
  for (const auto size : sizes) {
    if (size > most_elements / elements)
      throw std::invalid_argument(
          fmt::format("expected at most {} elements, got the shape [{}]", most_elements, fmt::join(sizes, ", ")));
    elements *= size;
  }
  return elements;
}

/// The element behind the last one that is touched; no step may overflow.
int64_t extent(int64_t offset, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t end = offset + 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(end, step, &end)) {
      throw std::invalid_argument("the strides of a tensor overflow");
    }
  }
  return end;
}

/// A bool that is neither 0 nor 1 is undefined behaviour in C++.
void normalise_booleans(const at::Storage& storage, int64_t offset, int64_t elements) {
  auto bytes = at::empty({0}, at::kByte).set_(storage, offset, {elements}, {1});
  if (bytes.gt(1).any().item<bool>()) bytes.copy_(bytes.ne(0));
}

bool flag(const Dict& metadata, const std::string& name) {
  return std::ranges::any_of(metadata.entries, [&](const auto& entry) {
    const auto* key = std::get_if<std::string>(&entry.first->value);
    const auto* value = std::get_if<bool>(&entry.second->value);
    return key && *key == name && value && *value;
  });
}

}  // namespace

at::Tensor rebuild_tensor(const std::vector<Object*>& arguments, bool with_dtype) {
  const auto& [storage, storage_dtype] = argument<StorageOf>(arguments, 0, "the storage of a tensor");
  const auto dtype = with_dtype ? dtype_of(argument<Global>(arguments, 6, "the dtype of a tensor")) : storage_dtype;
  const auto offset = argument<int64_t>(arguments, 1, "the offset of a tensor");
  const auto sizes = integers(arguments, 2, "sizes of at least 0");
  const auto strides = integers(arguments, 3, "strides of at least 0");
  if (sizes.size() != strides.size())
    throw std::invalid_argument(
        fmt::format("expected as many strides as sizes, got {} and {}", strides.size(), sizes.size()));
  const auto available = static_cast<int64_t>(storage.nbytes() / c10::elementSize(dtype));
  if (offset < 0 || offset > available)
    throw std::invalid_argument(fmt::format("expected an offset within {} elements, got {}", available, offset));
  if (count(sizes) > 0 && extent(offset, sizes, strides) > available) {
    throw std::invalid_argument(fmt::format(
        "a tensor of shape [{}], strides [{}] and offset {} needs {} elements, its storage has {}",
        fmt::join(sizes, ", "), fmt::join(strides, ", "), offset, extent(offset, sizes, strides), available));
  }
  if (count(sizes) > std::max(available, most_repeated_elements)) {
    throw std::invalid_argument(fmt::format("a tensor of shape [{}] repeats the {} elements of its storage too often",
                                            fmt::join(sizes, ", "), available));
  }
  if (dtype == at::kBool && count(sizes) > 0)
    normalise_booleans(storage, offset, extent(offset, sizes, strides) - offset);
  auto tensor = at::empty({0}, dtype).set_(storage, offset, sizes, strides);
  const size_t metadata = with_dtype ? 7 : 6;
  if (arguments.size() > metadata) {
    if (const auto* flags = std::get_if<Dict>(&arguments[metadata]->value)) {
      if (flag(*flags, "conj")) tensor = tensor.conj();
      if (flag(*flags, "neg")) tensor = at::_neg_view(tensor);
    }
  }
  return tensor;
}

at::Tensor rebuild_sparse_tensor(const std::vector<Object*>& arguments) {
  const auto& layout = argument<std::string>(arguments, 0, "a layout");
  const auto& parts = argument<Tuple>(arguments, 1, "the parts of a sparse tensor").items;
  const bool coo = layout == "torch.sparse_coo";
  const auto& first = argument<at::Tensor>(parts, 0, "indices");
  const auto& values = argument<at::Tensor>(parts, coo ? 1 : 2, "values");
  const auto sizes = integers(parts, coo ? 2 : 3, "sizes of at least 0");
  if (count(sizes) > std::max(values.numel(), most_repeated_elements)) {
    throw std::invalid_argument(fmt::format("a sparse tensor of shape [{}] is too large", fmt::join(sizes, ", ")));
  }
  if (coo) {
    at::_validate_sparse_coo_tensor_args(first, values, sizes);
    return at::sparse_coo_tensor(first, values, sizes, values.options().layout(at::kSparse));
  }
  static const std::map<std::string, at::Layout> layouts = {{"torch.sparse_csr", at::kSparseCsr},
                                                            {"torch.sparse_csc", at::kSparseCsc},
                                                            {"torch.sparse_bsr", at::kSparseBsr},
                                                            {"torch.sparse_bsc", at::kSparseBsc}};
  const auto found = layouts.find(layout);
  if (found == layouts.end()) throw std::invalid_argument(fmt::format("expected a sparse layout, got {}", layout));
  const auto& second = argument<at::Tensor>(parts, 1, "indices");
  at::_validate_sparse_compressed_tensor_args(first, second, values, sizes, found->second);
  return at::sparse_compressed_tensor(first, second, values, sizes, values.options().layout(found->second));
}

}  // namespace torchstone::formats::pickle

namespace torchstone::formats {
namespace {

using Archive = caffe2::serialize::PyTorchStreamReader;

uint64_t size_of(std::istream& stream, const std::string& name) {
  stream.seekg(0, std::ios::end);
  const auto size = stream.tellg();
  stream.seekg(0);
  if (!stream || size < 0) throw PickleError(name + ": cannot be read");
  return static_cast<uint64_t>(size);
}

void expect_zip(std::istream& stream, const std::string& name) {
  std::array<char, 4> start{};
  stream.read(start.data(), start.size());
  const auto length = static_cast<size_t>(stream.gcount());
  stream.clear();
  stream.seekg(0);
  const std::string_view text(start.data(), length);
  if (text.starts_with("PK")) return;
  if (text.starts_with('\x80')) {
    throw PickleError(name +
                      ": a pickle without the zip around it (torch.save before PyTorch 1.6, or another program): "
                      "read it in Python and save it again with torch.save");
  }
  throw PickleError(
      fmt::format("{}: expected a zip archive of torch.save{}", name, length < 4 ? ", the file is truncated" : ""));
}

/// torch.save never compresses, so no record is larger than the file.
std::pair<at::DataPtr, size_t> record(Archive& archive, const std::string& record, uint64_t file_size) {
  if (archive.getRecordSize(record) > file_size) {
    throw std::invalid_argument(fmt::format("expected the record {} to be stored uncompressed", record));
  }
  auto [data, size] = archive.getRecord(record);
  return {std::move(data), size};
}

std::string text_record(Archive& archive, const std::string& name, uint64_t file_size) {
  const auto [data, size] = record(archive, name, file_size);
  return {static_cast<const char*>(data.get()), size};
}

void expect_torch_save(Archive& archive, uint64_t file_size) {
  if (archive.hasRecord("constants.pkl")) {
    throw std::invalid_argument("a TorchScript program, not values: expected a file of torch.save");
  }
  if (!archive.hasRecord("data.pkl"))
    throw std::invalid_argument("expected a record data.pkl: not written by torch.save");
  if (archive.hasRecord("byteorder") && text_record(archive, "byteorder", file_size) != "little") {
    throw std::invalid_argument("expected little-endian numbers");
  }
}

c10::IValue read_archive(std::istream& stream, uint64_t file_size) {
  Archive archive(&stream);
  require_possible_sizes(archive, file_size);
  expect_torch_save(archive, file_size);
  std::map<std::string, at::Storage> storages;  // tensors of one storage stay views of one storage
  const auto load = [&](const std::string& key) {
    const auto known = storages.find(key);
    if (known != storages.end()) return known->second;
    if (!archive.hasRecord("data/" + key))
      throw std::invalid_argument(fmt::format("expected a record data/{}", key.substr(0, 200)));
    auto [data, size] = record(archive, "data/" + key, file_size);
    return storages.emplace(key, at::Storage(at::Storage::use_byte_size_t(), size, std::move(data))).first->second;
  };
  return pickle::unpickle(text_record(archive, "data.pkl", file_size), load, file_size);
}

}  // namespace

c10::IValue read_pt(std::istream& stream, const std::string& name) {
  const auto size = size_of(stream, name);
  expect_zip(stream, name);
  try {
    return read_archive(stream, size);
  } catch (const PickleError& error) {
    throw PickleError(fmt::format("{}: {}", name, error.what()));
  } catch (const std::invalid_argument& error) {
    throw PickleError(fmt::format("{}: {}", name, error.what()));
  } catch (const c10::Error& error) {
    throw PickleError(fmt::format("{}: truncated or damaged: {}", name, first_line(error)));
  } catch (const std::exception& error) {
    throw PickleError(fmt::format("{}: cannot be read: {}", name, error.what()));
  }
}

c10::IValue read_pt(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw PickleError(path + ": cannot be opened");
  return read_pt(stream, path);
}

}  // namespace torchstone::formats
