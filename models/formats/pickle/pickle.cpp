#include "models/formats/pickle/pickle.h"

#include <array>
#include <fstream>
#include <istream>
#include <map>
#include <stdexcept>
#include <string_view>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include "models/formats/model_file.h"
#include "models/formats/pickle/machine.h"

namespace torchstone::formats {
namespace {

using Archive = caffe2::serialize::PyTorchStreamReader;

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

/// Reads a record. Refuses records larger than the file, because torch.save never compresses.
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
    throw std::invalid_argument("a TorchScript program, expected a file of torch.save");
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
  std::map<std::string, at::Storage> storages;  // views of one storage still share it
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
  const auto size = size_of(stream);
  if (!size) throw PickleError(name + ": cannot be read");
  expect_zip(stream, name);
  try {
    return read_archive(stream, *size);
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
