#include "models/core/registration.h"

#include <gmock/gmock.h>

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Registration, FindsWhatWasAddedByItsName) {
  Registry<int> numbers("number");
  EXPECT_TRUE(numbers.add("two", 2, "a.cpp", 1));
  EXPECT_TRUE(numbers.add("one", 1, "b.cpp", 2));
  ASSERT_NE(numbers.find("two"), nullptr);
  EXPECT_EQ(*numbers.find("two"), 2);
  EXPECT_EQ(numbers.find("three"), nullptr);
  std::vector<std::string> names;
  for (const auto& [name, entry] : numbers.entries()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("one", "two"));
}

TEST(Registration, ATakenNameIsRefusedWithBothPlacesAndTheFirstStays) {
  Registry<int> numbers("number");
  numbers.add("two", 2, "a.cpp", 1);
  EXPECT_THAT([&] { numbers.add("two", 22, "b.cpp", 7); },
              ThrowsMessage<std::invalid_argument>("b.cpp:7: number two is already registered at a.cpp:1"));
  EXPECT_EQ(*numbers.find("two"), 2);
}

TEST(Registration, WhileAPlugInIsLoadedErrorsAreCollectedAndNothingIsThrown) {
  Registry<int> numbers("number");
  numbers.add("two", 2, "a.cpp", 1);
  {
    const CollectRegistrations collect;
    EXPECT_TRUE(numbers.add("three", 3, "b.cpp", 1));
    EXPECT_FALSE(numbers.add("two", 22, "b.cpp", 2));
    EXPECT_FALSE(refuse_registration("b.cpp:3: number four has no value"));
    EXPECT_EQ(collect.registrations().added, 1U);
    EXPECT_THAT(collect.registrations().errors,
                ElementsAre(HasSubstr("number two is already registered"), HasSubstr("number four has no value")));
  }
  EXPECT_THROW(numbers.add("two", 22, "b.cpp", 2), std::invalid_argument);
  const CollectRegistrations again;
  EXPECT_EQ(again.registrations().added, 0U);
  EXPECT_THAT(again.registrations().errors, IsEmpty());
}

TEST(Registration, ATakenNameIsRefusedWithThePlugInThatHasIt) {
  Registry<int> numbers("number");
  {
    const CollectRegistrations collect("out/liba.so");
    numbers.add("two", 2, "a.cpp", 1);
  }
  const CollectRegistrations collect("out/libb.so");
  EXPECT_FALSE(numbers.add("two", 22, "b.cpp", 7));
  EXPECT_THAT(collect.registrations().errors,
              ElementsAre("b.cpp:7: number two is already registered at a.cpp:1 of the plug-in out/liba.so"));
}

}  // namespace
}  // namespace torchstone
