// A plug-in that takes the user's locale for the whole process while it is loaded, as GUI libraries do. Only when it is
// asked to.
#include <clocale>
#include <cstdlib>

namespace {

[[maybe_unused]] const bool took_locale =
    std::getenv("TORCHSTONE_FAULTS_LOCALE") != nullptr && std::setlocale(LC_ALL, "") != nullptr;

}  // namespace
