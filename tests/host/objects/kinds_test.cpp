// Domains of names: which are ours.
#include "host/objects/kinds.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

TEST(Kinds, DomainsLieWithinOthers) {
  struct Case {
    const char *name, *domain;
    bool ours;
  };
  const Case cases[] = {
      {"sluice.dev/a", "sluice.dev", true},
      {"b.a.sluice.dev/c", "b.a.sluice.dev", true},
      {"sluice.dev", "sluice.dev", true},
      {"notsluice.dev/a", "notsluice.dev", false},
      {"sluice.dev.example.com/a", "sluice.dev.example.com", false},
      {"dev/sluice.dev", "dev", false},
      {"", "", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(domain_of(each.name), each.domain);
    EXPECT_EQ(is_within(domain_of(each.name), kOwnGroup), each.ours) << each.name;
  }
}

}  // namespace
}  // namespace sluice::host
