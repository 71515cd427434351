// Where API servers are told that a controller is: what is written, and that it is written once.
#include "host/aggregation/registrar.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const AdvertisedPlace kHere{"10.1.2.3", 9443};

TEST(Registrar, ASliceNamesOneReplica) {
  const auto made = slice_to(kHere, "sluice-system", {});
  ASSERT_TRUE(made);
  const std::string text = boost::json::serialize(*made);
  for (const char* part :
       {R"("addressType":"IPv4")", R"("addresses":["10.1.2.3"])", R"("port":9443)",
        R"("kubernetes.io/service-name":"sluice-visibility")", R"("namespace":"sluice-system")"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("resourceVersion")));
}

TEST(Registrar, WhatStandsThereIsNotWrittenAgain) {
  auto present = *slice_to(kHere, "sluice-system", {});
  present["metadata"].as_object()["resourceVersion"] = "12";
  EXPECT_FALSE(slice_to(kHere, "sluice-system", present));
  for (const AdvertisedPlace& other :
       std::vector<AdvertisedPlace>{{"10.1.2.4", 9443}, {"10.1.2.3", 9444}, {"fd00::3", 9443}}) {
    const auto next = slice_to(other, "sluice-system", present);
    ASSERT_TRUE(next) << other.ip;
    // Over what was read, and nothing newer.
    EXPECT_EQ(text_in(part(*next, "metadata"), "resourceVersion"), "12");
  }
  EXPECT_THAT(boost::json::serialize(*slice_to({"fd00::3", 1}, "a", {})),
              HasSubstr(R"("addressType":"IPv6")"));
}

}  // namespace
}  // namespace sluice::host
