// A plug-in that sets the process's locale from the environment when it is loaded, as GUI libraries do. It does so only
// if TORCHSTONE_FAULTS_LOCALE is set.
#include <clocale>
#include <cstdlib>

namespace {

[[maybe_unused]] const bool took_locale =
    std::getenv("TORCHSTONE_FAULTS_LOCALE") != nullptr && std::setlocale(LC_ALL, "") != nullptr;

}  // namespace
