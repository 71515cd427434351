// week: what is left in the memory of a host of all that came and went: a Machine with its store
// and controllers on a virtual clock, workloads of which none is like another, day after day.
//
//   week [--days N] [--each N] [--most BYTES]
//
// --each: workloads that come in each minute (30); each waits, runs for a minute, ends, and is
// removed an hour later. Prints the heap at the end of each day, and exits 1 when the days after
// the second one left more than BYTES (default 0: any) for each workload. In these two the past
// that watches may read fills up.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tests/dst/life.hpp"

namespace sluice::host::test {
namespace {

constexpr Duration kMinute = 60 * kSecond;
constexpr int kMinutes = 24 * 60;
constexpr const char* kSettings = R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
executor: { type: none }
objectRetentionPolicies: { workloads: { afterFinished: 1h } }
)";

struct Day {
  std::size_t workloads = 0;  // so far
  std::size_t objects = 0;    // in the store
  std::size_t bytes = 0;      // of the heap, in use
};

class Week {
 public:
  explicit Week(int each) : each_(each) {
    clock_.set(now_);
    create("namespaces", R"({"metadata":{"name":"default"}})");
    create("resourceflavors", R"({"metadata":{"name":"f"}})");
    create("clusterqueues", R"({"metadata":{"name":"q"},"spec":{"namespaceSelector":{},
           "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
           {"name":"cpu","nominalQuota":"1000"}]}]}]}})");
    create("localqueues/default", R"({"metadata":{"name":"l"},"spec":{"clusterQueue":"q"}})");
    turn();
  }

  Day day() {
    for (int minute = 0; minute < kMinutes; ++minute) {
      end_those_that_run();
      for (int i = 0; i < each_; ++i) submit();
      turn();
    }
    ::malloc_trim(0);
    const struct mallinfo2 heap = ::mallinfo2();
    return {made_, life_.store().count(*life_.scheme().find_by_name("workloads")),
            heap.uordblks + heap.hblkhd};
  }

 private:
  void create(const std::string& path, const std::string& body) {
    const auto done = life_.write(WriteVerb::kCreate, path, body);
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }
  /// No template is like another.
  void submit() {
    running_.push_back(fmt::format("w-{:08}", made_));
    create("workloads/default",
           fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"queueName":"l","podSets":[{{
               "name":"main","count":1,"template":{{"spec":{{"restartPolicy":"Never","nodeSelector":
               {{"only":"no-{}"}},"containers":[{{"name":"c","image":"any","env":[{{"name":"N",
               "value":"{}"}}],"resources":{{"requests":{{"cpu":"{}m"}}}}}}]}}}}}}]}}}})",
                       running_.back(), made_, made_, 1000 + made_ % 1000));
    ++made_;
  }
  void end_those_that_run() {
    for (const std::string& name : running_) {
      const auto done = life_.write(
          WriteVerb::kPatch, "workloads/default/" + name + "/status",
          R"({"status":{"conditions":[{"type":"Finished","status":"True","reason":"Succeeded",
          "message":"done","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
      SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
    }
    running_.clear();
  }
  void turn() {
    now_ += kMinute;
    const std::string failed = life_.turn(now_);
    SLUICE_CHECK(failed.empty(), failed);
  }

  const int each_;
  Time now_ = *parse_time("2026-01-01T00:00:00Z");
  const Configuration config_ = *parse_configuration(kSettings, "week");
  VirtualClock clock_;
  LiveIds ids_;
  const std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  Life life_{config_, rules_of(config_, clock_), disk_, ids_, clock_, nullptr};
  std::size_t made_ = 0;
  std::vector<std::string> running_;
};

int run(int days, int each, double most) {
  Week week(each);
  std::vector<Day> all;
  fmt::print("{:>4} {:>10} {:>10} {:>10} {:>18}\n", "day", "workloads", "in store", "heap MiB",
             "bytes a workload");
  double worst = 0;
  for (int number = 1; number <= days; ++number) {
    all.push_back(week.day());
    const Day& now = all.back();
    const Day before = all.size() > 1 ? all[all.size() - 2] : Day();
    const double left = (static_cast<double>(now.bytes) - static_cast<double>(before.bytes)) /
                        static_cast<double>(now.workloads - before.workloads);
    if (number > 2) worst = std::max(worst, left);
    fmt::print("{:>4} {:>10} {:>10} {:>10.1f} {:>18.0f}\n", number, now.workloads, now.objects,
               static_cast<double>(now.bytes) / (1 << 20), left);
    std::fflush(stdout);
  }
  if (most <= 0 || worst <= most) return 0;
  fmt::print("error: a day left {:.0f} bytes for each workload; allowed: {:.0f}\n", worst, most);
  return 1;
}

}  // namespace
}  // namespace sluice::host::test

int main(int count, char** words) {
  int days = 7, each = 30;
  double most = 0;
  CLI::App app("What a host keeps in memory of all that came and went");
  app.add_option("--days", days);
  app.add_option("--each", each, "workloads in each minute");
  app.add_option("--most", most, "bytes that a workload may leave");
  CLI11_PARSE(app, count, words);
  return sluice::host::test::run(days, each, most);
}
