#pragma once

namespace torchstone {

/// Opens on /dev/null what is closed of the descriptors 0 to 2. To be called first of all: a file or a pipe that got
/// such a number would be written to as if it were the program's output. Throws std::system_error.
void open_standard_descriptors();

}  // namespace torchstone
