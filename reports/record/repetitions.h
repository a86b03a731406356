#pragma once
#include <vector>

#include <torchstone/result.h>

// A run with --gtest_repeat has several results of each case. Where only one can stand for the case, one that is not as
// expected does: a later repetition does not make it good.
namespace torchstone {

/// Whether `later` stands for the case, of two results of it.
bool counts_instead(const Result& later, const Result& earlier);
/// One result of each name, in the order of `results`: the last that is not as expected, else the last.
std::vector<const Result*> one_of_each_name(const std::vector<Result>& results);

}  // namespace torchstone
