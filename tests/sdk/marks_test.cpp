// Who counts as a controller.
#include "sluice/cpp/marks.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice {
namespace {

TEST(Controllers, AreTheSystemAndServiceAccountsOfOtherNamespaces) {
  const std::pair<const char*, bool> cases[] = {
      {"", true},
      {"system:kube-scheduler", true},
      {"system:anonymous", false},
      {"jane", false},
      {"system:serviceaccount:operators:a", true},
      {"system:serviceaccount:ns:a", false},
  };
  for (const auto& [user, is] : cases) EXPECT_EQ(is_controller(user, "ns"), is) << user;
}

}  // namespace
}  // namespace sluice
