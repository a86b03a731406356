#include "tests/unit/models/formats/exported/edited_archive.h"

#include <caffe2/serialize/inline_container.h>

namespace torchstone::formats::exported {

std::string exported_sample(const std::string& name) {
  return std::string(TORCHSTONE_TEST_DIR) + "/oracles/exported/" + name;
}

Records records_of(const std::string& path) {
  caffe2::serialize::PyTorchStreamReader reader(path);
  Records records;
  for (const auto& name : reader.getAllRecords()) {
    if (name.starts_with(".data/") || name == "byteorder") continue;  // the writer adds its own
    const auto [data, size] = reader.getRecord(name);
    records[name] = {static_cast<const char*>(data.get()), size};
  }
  return records;
}

void write_archive(const std::string& path, const Records& records) {
  caffe2::serialize::PyTorchStreamWriter writer(path);
  for (const auto& [name, bytes] : records) writer.writeRecord(name, bytes.data(), bytes.size());
  writer.writeEndOfFile();
}

void edit_json(Records& records, const std::string& record, const std::function<void(nlohmann::json&)>& edit) {
  auto json = nlohmann::json::parse(records.at(record));
  edit(json);
  records[record] = json.dump();
}

}  // namespace torchstone::formats::exported
