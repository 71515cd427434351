// Objects are found by their UIDs, in whatever form these come.
#include "host/kernel/uid_table.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

struct UidTableOf : ::testing::Test {
  api::KindInfo kind;
  UidTable table;

  std::string at(std::string_view uid) const {
    const ObjectRef* found = table.find(uid);
    return found ? found->key : "nothing";
  }
};

constexpr std::string_view kUuid = "01a21751-1e0e-7000-8cc8-08d0911e1672";

TEST_F(UidTableOf, FindsWhatHasTheUidUntilItIsErased) {
  for (const std::string_view uid : {kUuid, std::string_view("by-hand"), std::string_view("")}) {
    EXPECT_EQ(at(uid), "nothing") << uid;
    table.put(uid, {&kind, "a"});
    EXPECT_EQ(at(uid), "a") << uid;
    table.put(uid, {&kind, "b"});
    EXPECT_EQ(at(uid), "b") << uid;
    table.erase(uid);
    EXPECT_EQ(at(uid), "nothing") << uid;
  }
}

TEST_F(UidTableOf, TellsUidsApartThatDifferInOnePlace) {
  table.put(kUuid, {&kind, "a"});
  for (const std::string_view other :
       {"01a21751-1e0e-7000-8cc8-08d0911e1673", "11a21751-1e0e-7000-8cc8-08d0911e1672",
        "01A21751-1e0e-7000-8cc8-08d0911e1672", "01a217511e0e70008cc808d0911e1672"})
    EXPECT_EQ(at(other), "nothing") << other;
}

}  // namespace
}  // namespace sluice::host
