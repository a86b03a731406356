#pragma once
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {

/// What the numbers of the schema's enums stand for (torch/_export/serde/schema.py); they differ from LibTorch's.
c10::ScalarType scalar_type_at(const JsonPlace& number);
c10::Layout layout_at(const JsonPlace& number);
c10::MemoryFormat memory_format_at(const JsonPlace& number);

}  // namespace torchstone::formats::exported
