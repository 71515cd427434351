// What one plugin sees of the host, asked as its library would: what it is refused, and that what
// it leaves there has an end.
#include "host/plugins/host_side.hpp"

#include "host/plugins/check_service.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostSideTest : public ::testing::Test {
 protected:
  /// What the service answers to the report of a Ready with these updates; the sentence is in
  /// `error`.
  std::int32_t report(std::string_view updates = {}) {
    error.clear();
    const sluice_sink_t sink{sizeof(sluice_sink_t), 0, &error, [](void* text, sluice_str_t piece) {
                               *static_cast<std::string*>(text) += view_of(piece);
                             }};
    const sluice_check_report_t raw{sizeof(raw),
                                    -1,
                                    1,
                                    abi_of("ns"),
                                    abi_of("w"),
                                    abi_of("uid-w"),
                                    abi_of("check"),
                                    abi_of("Ready"),
                                    abi_of(""),
                                    abi_of(""),
                                    abi_of(updates)};
    return check_reporter_service().report(side.table(), &raw, &sink);
  }

  TestClock clock;
  MetricsRegistry metrics;
  HostSide side{"thief", boost::json::object(), {&clock, &metrics, {}}};
  std::string error;
};

TEST_F(HostSideTest, WhoAnswersForNoChecksReportsNothing) {
  EXPECT_EQ(report(), SLUICE_REFUSED);
  EXPECT_THAT(error, HasSubstr("it provides no check-controller/1"));
  EXPECT_THAT(side.take_reports(), IsEmpty());
  side.allow({.timers = false, .reports = true});
  EXPECT_EQ(report(), SLUICE_OK) << error;
  EXPECT_THAT(side.take_reports(), SizeIs(1));
}

}  // namespace
}  // namespace sluice::host
