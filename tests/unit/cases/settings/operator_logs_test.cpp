#include "cases/settings/operator_logs.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "models/operators/operator_log.h"
#include "tests/unit/cases/support.h"

namespace torchstone::suite {
namespace {

using test::error_of;
using test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;

/// Log folders in upstream's layout and in Torchstone's.
class OperatorLogs : public testing::Test {
 protected:
  OperatorLogs() {
    for (const char* log : {"upstream/hf_train/BertForMaskedLM_training.txt", "upstream/hf_train/XLNet_training.txt",
                            "upstream/hf_train/README.md", "upstream/torchbench_train/resnet18_training.txt",
                            "own/BertForMaskedLM_inference.txt", "own/resnet18_inference.txt",
                            "own/resnet18_training.txt", "own/vit_base_patch16_224_inference.txt"})
      folder_.write(log, "");
  }

  /// Returns the logs of a name, as paths relative to the test's folder.
  std::vector<std::string> logs(const std::string& name, bool with_upstream) const {
    auto found = operator_logs_of({name, {"flag"}}, folders(with_upstream));
    for (auto& log : found) log = log.substr(folder_.path().size() + 1);
    return found;
  }
  OperatorLogFolders folders(bool with_upstream) const {
    return {with_upstream ? folder_.path() + "/upstream" : "", folder_.path() + "/own"};
  }

  const Folder folder_;
};

TEST_F(OperatorLogs, OfASuiteAreAllOfUpstreamsFolder) {
  EXPECT_THAT(logs("huggingface", true),
              ElementsAre("upstream/hf_train/BertForMaskedLM_training.txt", "upstream/hf_train/XLNet_training.txt"));
  EXPECT_THAT(logs("torchbench", true), ElementsAre("upstream/torchbench_train/resnet18_training.txt"));
}

TEST_F(OperatorLogs, OfASuiteAreThoseOfItsModelsInTheZooOtherwise) {
  EXPECT_THAT(logs("huggingface", false), ElementsAre("own/BertForMaskedLM_inference.txt"));
  EXPECT_THAT(logs("torchbench", false), ElementsAre("own/resnet18_inference.txt", "own/resnet18_training.txt"));
  EXPECT_THAT(logs("timm", true), ElementsAre("own/vit_base_patch16_224_inference.txt")) << "upstream has none here";
}

TEST_F(OperatorLogs, OfAModelAreUpstreamsElseItsOwnElseItsFamilys) {
  EXPECT_THAT(logs("BertForMaskedLM", true), ElementsAre("upstream/hf_train/BertForMaskedLM_training.txt"));
  EXPECT_THAT(logs("XLNet", true), ElementsAre("upstream/hf_train/XLNet_training.txt")) << "not in the zoo";
  EXPECT_THAT(logs("BertForMaskedLM", false), ElementsAre("own/BertForMaskedLM_inference.txt"));
  EXPECT_THAT(logs("resnet50", true), ElementsAre("own/resnet18_inference.txt", "own/resnet18_training.txt"));
}

TEST_F(OperatorLogs, OfTheProgramCanBeRead) {
  const OperatorLogFolders shipped{"", TORCHSTONE_SOURCE_DIR "/cases/operators"};
  for (const char* suite : {"torchbench", "timm", "huggingface"}) {
    const auto logs = operator_logs_of({suite, {"flag"}}, shipped);
    EXPECT_GE(logs.size(), 20U) << suite << ": one log a family";
    for (const auto& log : logs) EXPECT_FALSE(operators::read_operator_log(log).empty()) << log;
  }
  EXPECT_FALSE(operator_logs_of({"deit_base_distilled_patch16_224", {"flag"}}, shipped).empty())
      << "the model uses the log of its family";
}

TEST_F(OperatorLogs, ThatDoNotExistAreErrors) {
  EXPECT_THAT(error_of([&] { logs("XLNet", false); }), HasSubstr("flag: no log of the operators of XLNet in "));
  EXPECT_THAT(error_of([&] { logs("alexnet", true); }), HasSubstr("no log of the operators of alexnet"));
  // The second folder is the parent of upstream's.
  for (const std::string& folder : {folder_.path() + "/none", folder_.path()})
    EXPECT_THAT(error_of([&] {
                  operator_logs_of({"resnet18", {"flag"}}, {folder, folder_.path() + "/own"});
                }),
                HasSubstr(folder + ": no folder timm_train, hf_train or torchbench_train in it (expected PyTorch's"));
}

}  // namespace
}  // namespace torchstone::suite
