#include "../names.hpp"

#include <gtest/gtest.h>
#include <sluice/cpp/sha1.hpp>

namespace provisioning {
namespace {

TEST(Names, AreReadable) {
  EXPECT_EQ(request_name("job-a-1f2e3", "prov", 1), "job-a-1f2e3-prov-1");
  EXPECT_EQ(template_name("job-a-1f2e3-prov-1", "main"), "ppt-job-a-1f2e3-prov-1-main");
}

TEST(Names, AreCutWithAHashWhenTheyAreTooLong) {
  const std::string fits(247, 'w');
  EXPECT_EQ(limited_name(fits), fits);
  const std::string one = request_name(std::string(250, 'w'), "check", 1);
  EXPECT_EQ(one.size(), 247u);
  std::string whole(250, 'w');
  whole += "-check-1";
  EXPECT_EQ(one.substr(0, 241), whole.substr(0, 241));
  EXPECT_EQ(one.substr(241), "-" + sluice::sha1_hex(whole).substr(0, 5));
  EXPECT_NE(one, request_name(std::string(250, 'w'), "check", 2));
}

}  // namespace
}  // namespace provisioning
