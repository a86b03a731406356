#include "models/formats/exported/pt2_archive.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/tree.h"
#include "models/formats/exported/json_place.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/pickle.h"

namespace torchstone::formats::exported {
namespace {

constexpr const char* expected = "expected an archive of torch.export.save";

void require_zip(std::istream& stream) {
  std::string start(4, '\0');
  if (!stream.read(start.data(), 4) || start != "PK\3\4")
    throw std::invalid_argument(fmt::format("not a zip archive; {}", expected));
}

/// Opens the zip. Throws std::invalid_argument if it is cut off, or has no common folder, whose records are not found.
template <typename Source>
std::unique_ptr<caffe2::serialize::PyTorchStreamReader> opened(const Source& source) {
  try {
    return std::make_unique<caffe2::serialize::PyTorchStreamReader>(source);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    throw std::invalid_argument(
        fmt::format("a damaged or foreign zip archive; {} ({})", expected, text.substr(0, text.find_first_of(".\n"))));
  }
}

/// Returns whether unpacking a record of this name would write outside the folder. Nothing is unpacked here, but such
/// an archive was tampered with.
bool escapes_folder(const std::string& name) {
  const std::filesystem::path path(name);
  return name.empty() || name.starts_with('/') || name.find('\\') != std::string::npos ||
         std::find(path.begin(), path.end(), "..") != path.end();
}

}  // namespace

Archive::Archive(const std::string& path) : path_(path) {
  if (!std::filesystem::is_regular_file(path)) throw std::invalid_argument("no such file");
  std::ifstream stream(path, std::ios::binary);
  require_zip(stream);
  reader_ = opened(path);
  open(std::filesystem::file_size(path));
}

Archive::Archive(std::istream& stream) {
  require_zip(stream);
  const uint64_t size = size_of(stream).value_or(0);
  reader_ = opened(&stream);
  open(size);
}

void Archive::open(uint64_t file_bytes) {
  file_bytes_ = file_bytes;
  require_possible_sizes(*reader_, file_bytes_);
  for (const auto& name : reader_->getAllRecords()) {
    if (escapes_folder(name))
      throw std::invalid_argument(fmt::format("a record named \"{}\" (expected names within the archive)", name));
    names_.insert(name);
  }
  if (has("constants.pkl")) throw std::invalid_argument(fmt::format("a TorchScript file; {}", expected));
  if (has("data.pkl")) throw std::invalid_argument(fmt::format("a file of torch.save; {}", expected));
  if (!has("archive_format") || text("archive_format") != "pt2")
    throw std::invalid_argument(fmt::format("the record archive_format is not pt2; {}", expected));
  if (has("archive_version") && text("archive_version") != "0")
    throw std::invalid_argument(fmt::format("version {} of the archive (expected 0, which PyTorch 2.11 to 2.13 writes)",
                                            text("archive_version")));
  if (has("byteorder") && text("byteorder") != "little") throw std::invalid_argument("expected little-endian numbers");
  if (programs().empty())
    throw std::invalid_argument(
        fmt::format("no program in models/, perhaps an AOTInductor package, which is already compiled; {}", expected));
}

Archive::~Archive() = default;

std::vector<std::string> Archive::programs() const {
  const std::string folder = "models/", ending = ".json";
  std::vector<std::string> programs;
  for (const auto& name : names_) {
    if (name.starts_with(folder) && name.ends_with(ending) && name.size() > folder.size() + ending.size())
      programs.push_back(name.substr(folder.size(), name.size() - folder.size() - ending.size()));
  }
  return programs;
}

std::pair<at::DataPtr, size_t> Archive::bytes(const std::string& record) {
  if (!has(record)) throw std::invalid_argument(fmt::format("expected a record {}", record.substr(0, 200)));
  auto [data, size] = reader_->getRecord(record);
  return {std::move(data), size};
}

std::string Archive::text(const std::string& record) {
  const auto [data, size] = bytes(record);
  return {static_cast<const char*>(data.get()), size};
}

nlohmann::json Archive::json(const std::string& record) { return parse_json(text(record), record); }

c10::IValue Archive::saved(const std::string& record) {
  std::istringstream stream(text(record));
  return read_pt(stream, record);
}

namespace {

constexpr size_t most_dimensions = 64;

struct Extent {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  c10::ScalarType dtype = c10::kFloat;
  int64_t elements = 1, span = 0;  ///< `span`: elements of the storage up to the last one of the tensor
};

std::vector<int64_t> integers(const JsonPlace& list) {
  std::vector<int64_t> values;
  for (const auto& item : list.items()) {
    const auto [kind, value] = item.only();
    if (kind != "as_int") item.fail(fmt::format("{}, expected as_int: the sizes of a stored tensor are numbers", kind));
    values.push_back(value.integer());
    if (values.back() < 0) item.fail(fmt::format("{}, expected 0 or more", values.back()));
  }
  return values;
}

Extent extent_of(const JsonPlace& meta) {
  Extent extent{integers(meta.at("sizes")), integers(meta.at("strides")), 0, scalar_type_at(meta.at("dtype"))};
  if (extent.sizes.size() != extent.strides.size() || extent.sizes.size() > most_dimensions)
    meta.fail(fmt::format("{} sizes and {} strides (expected equal numbers of at most {})", extent.sizes.size(),
                          extent.strides.size(), most_dimensions));
  if (layout_at(meta.at("layout")) != c10::kStrided) meta.at("layout").fail("expected a strided tensor");
  const auto [kind, offset] = meta.at("storage_offset").only();
  if (kind != "as_int" || offset.integer() < 0) offset.fail("expected an integer of 0 or more");
  extent.offset = offset.integer();
  int64_t last = extent.offset;
  bool overflows = false;
  for (size_t i = 0; i < extent.sizes.size(); ++i) {
    int64_t reach = 0;
    overflows |= __builtin_mul_overflow(extent.elements, extent.sizes[i], &extent.elements);
    overflows |= __builtin_mul_overflow(std::max<int64_t>(extent.sizes[i] - 1, 0), extent.strides[i], &reach);
    overflows |= __builtin_add_overflow(last, reach, &last);
  }
  overflows |= __builtin_add_overflow(last, 1, &extent.span);
  if (overflows) meta.fail("its sizes, strides and offset overflow 64 bits");
  return extent;
}

class Reader {
 public:
  explicit Reader(Archive& archive) : archive_(archive), most_bytes_(most_tensor_bytes(archive.file_bytes())) {}

  StoredTensors read(const std::string& config, const std::string& folder) {
    const auto json = archive_.json(config);
    StoredTensors tensors;
    for (const auto& [name, payload] : JsonPlace(json, config).at("config").entries())
      tensors[name] = {tensor_of(payload, folder), payload.at("is_param").boolean(),
                       payload.at("tensor_meta").at("requires_grad").boolean()};
    return tensors;
  }

 private:
  torch::Tensor tensor_of(const JsonPlace& payload, const std::string& folder) {
    const std::string record = folder + payload.at("path_name").text();
    if (payload.at("use_pickle").boolean())
      payload.fail(
          "stored as a pickle: a custom object, or a tensor of a subclass such as a quantised one (expected "
          "plain tensors; export the model before quantising it)");
    const Extent extent = extent_of(payload.at("tensor_meta"));
    const std::string key =
        fmt::format("{} {} {} {} {}", record, extent.sizes, extent.strides, extent.offset, dtype_name(extent.dtype));
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    return known_.emplace(key, view_of(payload, extent, record)).first->second;
  }

  torch::Tensor view_of(const JsonPlace& payload, const Extent& extent, const std::string& record) {
    const auto item = static_cast<int64_t>(c10::elementSize(extent.dtype));
    int64_t bytes = 0, reached = 0;
    const bool overflows = __builtin_mul_overflow(extent.elements, item, &bytes) ||
                           __builtin_mul_overflow(extent.span, item, &reached) ||
                           __builtin_add_overflow(total_, bytes, &total_);
    if (overflows || total_ > most_bytes_)
      payload.fail(
          fmt::format("the tensors take more than {} bytes, counting repeated elements (expected at most 256 MiB and "
                      "eight times the file)",
                      most_bytes_));
    const auto options = torch::TensorOptions().dtype(extent.dtype);
    if (extent.elements == 0) return torch::empty(extent.sizes, options);
    const auto& storage = storage_of(record);
    if (static_cast<uint64_t>(reached) > storage.nbytes())
      payload.fail(fmt::format("needs {} bytes, the record {} has {}{}", reached, record, storage.nbytes(),
                               storage.nbytes() == 0 ? " (perhaps exported with fake tensors, without values)" : ""));
    return torch::empty({0}, options).set_(storage, extent.offset, extent.sizes, extent.strides);
  }

  const at::Storage& storage_of(const std::string& record) {
    const auto known = storages_.find(record);
    if (known != storages_.end()) return known->second;
    auto [data, size] = archive_.bytes(record);
    return storages_.emplace(record, at::Storage(at::Storage::use_byte_size_t(), size, std::move(data))).first->second;
  }

  Archive& archive_;
  int64_t most_bytes_, total_ = 0;
  std::map<std::string, at::Storage> storages_;
  std::map<std::string, torch::Tensor> known_;
};

}  // namespace

StoredDtypes stored_dtypes(Archive& archive, const std::string& program, const std::set<std::string>& buffers) {
  StoredDtypes dtypes;
  for (const std::string folder : {"weights", "constants"}) {
    const std::string config = fmt::format("data/{}/{}_{}_config.json", folder, program, folder);
    const auto json = archive.json(config);
    for (const auto& [name, payload] : JsonPlace(json, config).at("config").entries()) {
      if (payload.at("use_pickle").boolean()) continue;
      const auto dtype = c10::toRealValueType(scalar_type_at(payload.at("tensor_meta").at("dtype")));
      const bool constant = folder == "constants" && !buffers.contains(name);
      if (c10::isFloatingType(dtype)) (constant ? dtypes.constants : dtypes.state).insert(dtype);
    }
  }
  return dtypes;
}

ProgramTensors read_tensors(Archive& archive, const std::string& program) {
  const std::string weights = "data/weights/", constants = "data/constants/";
  for (const auto& older : {weights + program + ".pt", constants + program + ".pt"}) {
    if (archive.has(older))
      throw std::invalid_argument(
          fmt::format("{}: the layout of PyTorch before 2.10 (expected that of 2.11 and newer: load the file in Python "
                      "and save it again)",
                      older));
  }
  Reader reader(archive);
  return {reader.read(fmt::format("{}{}_weights_config.json", weights, program), weights),
          reader.read(fmt::format("{}{}_constants_config.json", constants, program), constants)};
}

}  // namespace torchstone::formats::exported
