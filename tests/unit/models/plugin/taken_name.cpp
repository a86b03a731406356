// Plug-in whose model has the name of an existing model. load_plugin must refuse it without a crash.
#include <torchstone/model.h>

namespace {

TORCHSTONE_MODEL(
    alexnet, .family = "plugin",
    .make = [](const torchstone::ModelOptions&) -> std::shared_ptr<torchstone::Model> { return nullptr; });

}  // namespace
