#include "reports/results_folder/order.h"

namespace torchstone::results_folder {

bool replaces(const Result& record, const Result& other) {
  const Origin &mine = record.origin, &theirs = other.origin;
  if (!mine.folder.empty() && mine.folder == theirs.folder) {
    if (mine.number != theirs.number) return mine.number > theirs.number;
    if (mine.run == theirs.run) return mine.sequence >= theirs.sequence;
  }
  return record.recorded >= other.recorded;
}

}  // namespace torchstone::results_folder
