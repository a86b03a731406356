#pragma once
#include <new>
#include <stdexcept>
#include <string>

#include <c10/util/Exception.h>

namespace torchstone::formats::exported {

/// Returns action(). What it throws is thrown again as std::runtime_error that starts with `file`, without LibTorch's
/// C++ stack; a lack of memory stays one.
template <typename Action>
auto with_file(const std::string& file, const Action& action) {
  try {
    return action();
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    throw std::runtime_error(file + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw std::runtime_error(file + ": " + error.what());
  }
}

}  // namespace torchstone::formats::exported
