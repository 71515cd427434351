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
  std::vector<std::string> logged;
  HostSide side{"thief",
                boost::json::object(),
                {&clock, &metrics, [this](int, std::string_view, std::string_view text) {
                   logged.emplace_back(text);
                 }}};
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

TEST_F(HostSideTest, UpdatesThatNoPodCouldHaveAreRefused) {
  side.allow({.timers = false, .reports = true});
  const auto of_main = [](const std::string& members) {
    return R"([{"name":"main",)" + members + "}]";
  };
  const std::string long_text(64, 'x');
  const struct {
    std::string updates, why;
  } cases[] = {
      {of_main(R"("annotations":{"not a key!!":"x"})"), "is no key of an annotation"},
      {of_main(R"("annotations":{"a":5})"), "has to be a map of texts"},
      {of_main(R"("annotations":{"sluice.dev/created-by":"root"})"), "only the system sets"},
      {of_main(R"("labels":{"p.sluice.dev/x":"1"})"), "only the system sets"},
      {of_main(R"("labels":{")" + long_text + R"(":"1"})"), "is no key of a label"},
      {of_main(R"("labels":{"a":")" + long_text + R"("})"), "is no value of a label"},
      {of_main(R"("nodeSelector":{"a b":"1"})"), "is no key of a label"},
      {of_main(R"("tolerations":[{"key":5,"effect":"Nope"}])"), "`key` has to be a text"},
      {of_main(R"("tolerations":[{"key":"a","effect":"Nope"}])"), "effect is one of"},
      {of_main(R"("tolerations":[{"key":"a","operator":"In"}])"), "operator is one of"},
      {of_main(R"("tolerations":[{"key":"a b"}])"), "is no key of a taint"},
      {of_main(R"("tolerations":[{"value":"a"}])"), "operator must be Exists"},
      {of_main(R"("tolerations":[{"key":"a","tolerationSeconds":5}])"), "must be NoExecute"},
      {of_main(R"("tolerations":[{"key":"a","operator":"Exists","value":"b"}])"), "must be empty"},
      {of_main(R"("tolerations":[{"key":"a","tolerationSeconds":"5"}])"), "a whole number"},
      {of_main(R"("tolerations":[{"taint":"a"}])"), "there is no `taint`"},
      {of_main(R"("tolerations":["a"])"), "a list of objects"},
      {R"([{"name":"main"},{"name":"main"}])", R"(the pod set "main" is there twice)"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(report(each.updates), SLUICE_REFUSED) << each.updates;
    EXPECT_THAT(error, HasSubstr(each.why)) << each.updates;
  }
  EXPECT_EQ(report(R"([{"name":"main","labels":{"a.b/c":"d"},"annotations":{"a.b/C":"any text, ü"},
    "nodeSelector":{"pool":"a","sluice.dev/managed-node":""},"tolerations":[{"operator":"Exists"},
    {"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":5}]},{"name":"other"}])"),
            SLUICE_OK)
      << error;
  EXPECT_THAT(side.take_reports(), SizeIs(1));
}

TEST_F(HostSideTest, ThereAreSoManyTimersAndThoseThatAreDueFireInOrder) {
  side.allow({.timers = true, .reports = false});
  // The later the number, the earlier its time; 10,000 fit.
  for (std::uint64_t i = 0; i < HostSide::kMostTimers; ++i)
    ASSERT_TRUE(side.set_timer(i, Time(20'000 - i)));
  EXPECT_FALSE(side.set_timer(10'000, 1));
  EXPECT_FALSE(side.set_timer(10'001, 1));
  EXPECT_THAT(logged, SizeIs(1)) << "told once";
  EXPECT_EQ(side.next_timer(), 10'001);
  EXPECT_TRUE(side.set_timer(0, 5)) << "one that is there is moved";
  EXPECT_EQ(side.next_timer(), 5);
  side.cancel_timer(0);
  EXPECT_EQ(side.next_timer(), 10'001);
  EXPECT_TRUE(side.set_timer(10'000, 30'000)) << "there is room again";
  // 9,999 are due, of number 9,999 to 1; a turn has 1,000 of them.
  std::vector<std::uint64_t> fired;
  int turns = 0;
  while (side.next_timer() <= 20'000) {
    const auto due = side.take_due_timers(20'000);
    ASSERT_LE(due.size(), HostSide::kMostDueAtOnce);
    fired.insert(fired.end(), due.begin(), due.end());
    ++turns;
  }
  ASSERT_THAT(fired, SizeIs(9'999));
  EXPECT_EQ(fired.front(), 9'999U);
  EXPECT_EQ(fired.back(), 1U);
  EXPECT_EQ(turns, 10);
  EXPECT_THAT(side.timers(), SizeIs(1));
  side.forget_timers();
  EXPECT_EQ(side.next_timer(), kNever);
}

TEST_F(HostSideTest, WhatNobodyFetchesHasAnEnd) {
  for (int i = 0; i < 200'010; ++i)
    side.add_request({EngineRequest::Type::kRequeue, "ns/w", "thief"});
  EXPECT_THAT(side.take_requests(), SizeIs(200'000));
  EXPECT_THAT(logged, SizeIs(1)) << "told once";
  // 64 MiB of texts of 1 MiB and a little: 63 of them.
  const std::string fat(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 100; ++i) side.add_request({EngineRequest::Type::kRequeue, fat, "thief"});
  EXPECT_THAT(side.take_requests(), SizeIs(63));
  side.add_request({EngineRequest::Type::kRequeue, fat, "thief"});
  EXPECT_THAT(side.take_requests(), SizeIs(1)) << "there is room again";
}

}  // namespace
}  // namespace sluice::host
