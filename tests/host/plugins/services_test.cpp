// Host services: timers, requests, events, metrics and the configuration, as plugins use them.
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Services : public PluginTest {};

TEST_F(Services, TimersFireInOrderOnTheHostsClock) {
  const auto set = load({plugin("observer-a", R"({"timer-in":100})")});
  const Time start = clock.time;
  std::vector<std::pair<Time, std::string>> fired;
  while (set->next_timer() != kNever) {
    clock.time = set->next_timer();
    set->fire_timers(clock.time);
    for (const EngineRequest& request : set->take_requests()) {
      EXPECT_EQ(request.type, EngineRequest::Type::kTraitsChanged);
      fired.emplace_back(clock.time - start, request.workload);
    }
  }
  // Timer 1 was set for +100 ns, each one sets the next 5 ns later, up to 3.
  EXPECT_THAT(fired, ElementsAre(std::pair(Time{100}, "timer/1"), std::pair(Time{105}, "timer/2"),
                                 std::pair(Time{110}, "timer/3")));
}

TEST_F(Services, EventsRequestsAndMetrics) {
  const auto set = load({plugin("observer-a"), plugin("observer-b")});
  hooks::Notification told;
  told.sequence = 1;
  told.event = hooks::Event::kPreempting;
  told.workload = std::make_shared<const api::Workload>(make_workload("w"));
  told.others = {"team-a/victim"};
  set->notify(told);
  set->notify(told);

  const auto events = set->take_events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].kind, "Workload");
  EXPECT_EQ(events[0].ns, "team-a");
  EXPECT_EQ(events[0].reason, "Told");
  EXPECT_FALSE(events[0].warning);
  EXPECT_THAT(set->take_events(), IsEmpty());

  const auto requests = set->take_requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].type, EngineRequest::Type::kRequeue);
  EXPECT_EQ(requests[0].workload, "team-a/victim");

  const auto metrics = set->metrics().snapshot();
  ASSERT_EQ(metrics.size(), 2u);  // one per plugin
  EXPECT_EQ(metrics[0].spec.plugin, "observer-a");
  EXPECT_EQ(metrics[0].spec.name, "told");
  ASSERT_EQ(metrics[0].values.size(), 1u);
  EXPECT_THAT(metrics[0].values[0].first, ElementsAre("1"));
  EXPECT_EQ(metrics[0].values[0].second, 2);
}

TEST(Metrics, RegistrationAndLimits) {
  MetricsRegistry registry;
  const MetricSpec counter{false, false, "p", "told", "", {"event"}};
  const auto number = registry.add_metric(counter);
  ASSERT_TRUE(number);
  EXPECT_EQ(registry.add_metric(counter), number) << "the same again is the same metric";
  EXPECT_FALSE(registry.add_metric({true, false, "p", "told", "", {"event"}}));
  EXPECT_FALSE(registry.add_metric({false, false, "p", "told", "", {}}));
  EXPECT_FALSE(registry.add_metric({false, false, "p", "Told!", "", {}}));
  EXPECT_NE(registry.add_metric({false, false, "q", "told", "", {"event"}}), number);

  EXPECT_TRUE(registry.add_metric({false, false, "p", "known_total", "", {}, true}));
  EXPECT_FALSE(registry.add_metric({false, false, "q", "known_total", "", {}, true}))
      << "a name in full is one plugin's";
  EXPECT_TRUE(registry.add_metric({false, false, "q", "known_total", "", {}}));
  for (const char* name : {"sluice_x", "kueue_admitted_workloads_total", "process_x"})
    EXPECT_FALSE(registry.add_metric({false, false, "p", name, "", {}, true}))
        << name << " is the host's to name";

  EXPECT_TRUE(registry.add(*number, "p", {"x"}, 2));
  EXPECT_FALSE(registry.add(*number, "p", {"x"}, -1)) << "a counter never goes down";
  EXPECT_FALSE(registry.add(*number, "q", {"x"}, 1)) << "it is not q's";
  EXPECT_FALSE(registry.add(*number, "p", {}, 1));
  EXPECT_FALSE(registry.set(*number, "p", {"x"}, 1)) << "only gauges are set";
  EXPECT_FALSE(registry.add(99, "p", {"x"}, 1));
  EXPECT_FALSE(registry.add(*number, "p", {"x"}, INT64_MAX)) << "it would overflow";
  EXPECT_EQ(registry.snapshot()[0].values[0].second, 2);
}

/// A series of 8 values of 128 bytes counts 96 + 8 × (32 + 128) = 1376 bytes: 4 MiB hold 3048 of
/// them, over all metrics of the plugin.
TEST(Metrics, ThereAreSoManyBytesOfSeriesForAPlugin) {
  MetricsRegistry registry;
  const std::vector<std::string> labels{"a", "b", "c", "d", "e", "f", "g", "h"};
  const auto one = registry.add_metric({false, false, "p", "one", "", labels});
  const auto two = registry.add_metric({false, false, "p", "two", "", labels});
  const auto others = registry.add_metric({false, false, "q", "one", "", labels});
  ASSERT_TRUE(one && two && others);
  const auto values = [](int number, std::size_t bytes) {
    std::vector<std::string> out(8, std::string(bytes, 'x'));
    out[0].replace(0, 5, std::to_string(10'000 + number));
    return out;
  };
  EXPECT_FALSE(registry.add(*one, "p", values(0, 129), 1)) << "129 bytes of a value";
  int taken = 0;
  for (int i = 0; i < 5'000; ++i)
    taken += registry.add(i % 2 == 0 ? *one : *two, "p", values(i, 128), 1) ? 1 : 0;
  EXPECT_EQ(taken, 3048);
  EXPECT_TRUE(registry.add(*one, "p", values(0, 128), 1)) << "a series that is there goes on";
  EXPECT_TRUE(registry.add(*others, "q", values(0, 128), 1)) << "the bytes are another's";
  EXPECT_TRUE(registry.first_refusal("p"));
  EXPECT_FALSE(registry.first_refusal("p"));
  EXPECT_TRUE(registry.first_refusal("q"));
}

}  // namespace
}  // namespace sluice::host
