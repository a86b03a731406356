#include "models/formats/exported/schema_types.h"

#include <map>

#include <fmt/format.h>

namespace torchstone::formats::exported {
namespace {

template <typename Value>
Value value_at(const JsonPlace& number, const std::map<int64_t, Value>& table, const char* what) {
  const auto found = table.find(number.integer());
  if (found == table.end()) number.fail(fmt::format("{} is no {} of the schema", number.integer(), what));
  return found->second;
}

}  // namespace

c10::ScalarType scalar_type_at(const JsonPlace& number) {
  using c10::ScalarType;
  static const std::map<int64_t, ScalarType> table = {
      {1, ScalarType::Byte},
      {2, ScalarType::Char},
      {3, ScalarType::Short},
      {4, ScalarType::Int},
      {5, ScalarType::Long},
      {6, ScalarType::Half},
      {7, ScalarType::Float},
      {8, ScalarType::Double},
      {9, ScalarType::ComplexHalf},
      {10, ScalarType::ComplexFloat},
      {11, ScalarType::ComplexDouble},
      {12, ScalarType::Bool},
      {13, ScalarType::BFloat16},
      {28, ScalarType::UInt16},
      {29, ScalarType::Float8_e4m3fn},
      {30, ScalarType::Float8_e5m2},
      {31, ScalarType::Float8_e4m3fnuz},
      {32, ScalarType::Float8_e5m2fnuz},
      {33, ScalarType::Float8_e8m0fnu},
      {34, ScalarType::UInt32},
      {35, ScalarType::UInt64},
  };
  return value_at(number, table, "dtype");
}

c10::Layout layout_at(const JsonPlace& number) {
  static const std::map<int64_t, c10::Layout> table = {
      {1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc}, {4, c10::kSparseBsr},
      {5, c10::kSparseBsc}, {6, c10::kMkldnn},    {7, c10::kStrided},
  };
  return value_at(number, table, "layout");
}

c10::MemoryFormat memory_format_at(const JsonPlace& number) {
  static const std::map<int64_t, c10::MemoryFormat> table = {
      {1, c10::MemoryFormat::Contiguous},
      {2, c10::MemoryFormat::ChannelsLast},
      {3, c10::MemoryFormat::ChannelsLast3d},
      {4, c10::MemoryFormat::Preserve},
  };
  return value_at(number, table, "memory format");
}

}  // namespace torchstone::formats::exported
