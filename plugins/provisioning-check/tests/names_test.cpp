#include "../names.hpp"

#include <gtest/gtest.h>

namespace provisioning {
namespace {

TEST(Names, Sha1IsTheOneOfTheStandard) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1_hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

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
  EXPECT_EQ(one.substr(241), "-" + sha1_hex(whole).substr(0, 5));
  EXPECT_NE(one, request_name(std::string(250, 'w'), "check", 2));
}

}  // namespace
}  // namespace provisioning
