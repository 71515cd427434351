// Jobs that a plugin maps to several workloads: what it asks for is carried out.
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Answers for jobs with the annotation `map`; a larger job gets a second workload.
class Growing final : public hooks::JobMapping {
 public:
  void plan(const hooks::JobQuery& query, hooks::JobPlan& out, hooks::Fault& fault) override {
    if (query.job.find("\"map\":\"fault\"") != std::string_view::npos) fault = {"grow", "no idea"};
    if (query.job.find("\"map\":\"conflict\"") != std::string_view::npos)
      out.conflict = "plugins a and b both answer";
    if (query.job.find("\"map\":\"yes\"") == std::string_view::npos) return;
    out.provider = "grow";
    const std::int32_t wanted = query.pod_sets[0].count;
    const hooks::JobWorkload* held = nullptr;
    const hooks::JobWorkload* waiting = nullptr;
    for (const auto& w : query.workloads) {
      if (w.workload->status.condition("Finished")) continue;
      const auto* admitted = w.workload->status.condition("Admitted");
      (admitted && admitted->is_true() ? held : waiting) = &w;
    }
    const auto& name = [](const hooks::JobWorkload* w) { return w->workload->meta.name; };
    if (!held && !waiting) {
      out.create.push_back({"", std::to_string(wanted), {{"made-by", "grow"}}, {}});
    } else if (held && waiting && held->match == hooks::JobMatch::kSame) {
      out.speaker = name(held);
      out.finish.push_back({name(waiting), "Superseded", "the job shrank again"});
    } else if (held && query.job.find("\"shrink\":\"all\"") != std::string_view::npos) {
      out.speaker = name(held);
      out.resize.push_back(name(held));
      for (const auto& w : query.workloads)
        if (w.workload->status.condition("Finished")) out.remove.push_back(w.workload->meta.name);
      out.remove.push_back(name(held));  // does not end what is not finished
    } else if (held && held->workload->pod_sets[0].count < wanted) {
      out.speaker = name(held);
      out.create.push_back({"", std::to_string(wanted), {}, {{"after", name(held)}}});
      if (waiting) out.resize.push_back(name(waiting));
    } else {
      out.speaker = held ? name(held) : name(waiting);
      if (held && held->match == hooks::JobMatch::kCounts) out.resize.push_back(name(held));
      if (!held && waiting->match == hooks::JobMatch::kCounts) out.resize.push_back(name(waiting));
    }
  }
};

constexpr const char* kMapped = R"("map":"yes")";

TEST(MappedJob, KeepsRunningWhileASecondWorkloadWaits) {
  Growing mapping;
  JobWorld world(&mapping);
  world.submit(JobWorld::job("train", 2, JobWorld::queued(), kMapped));
  const std::string first = world.only_workload();
  EXPECT_EQ(at(world.workload(first), "/metadata/labels/made-by"), "grow");
  EXPECT_TRUE(world.runs("train"));
  world.change("jobs", "train", R"({"spec":{"parallelism":9,"completions":9}})");
  ASSERT_THAT(world.workloads(), SizeIs(2));
  const auto all = world.workloads();
  const std::string second = all[0] == first ? all[1] : all[0];
  EXPECT_EQ(at(world.workload(second), "/metadata/annotations/after"), first);
  EXPECT_EQ(at(world.workload(second), "/spec/podSets/0/count"), "9");
  EXPECT_EQ(at(world.workload(first), "/spec/podSets/0/count"), "2");
  EXPECT_THAT(world.condition(second, "QuotaReserved"), StartsWith("False"));
  EXPECT_TRUE(world.runs("train")) << "the first one speaks";

  world.change("jobs", "train", R"({"spec":{"parallelism":2,"completions":2}})");
  EXPECT_EQ(world.condition(second, "Finished"), "True Superseded: the job shrank again");
  EXPECT_TRUE(world.runs("train"));
}

TEST(MappedJob, ThatIsNotAnsweredForIsMappedAsAlways) {
  Growing mapping;
  JobWorld world(&mapping);
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  EXPECT_EQ(at(world.workload(world.only_workload()), "/metadata/labels/made-by"), "(absent)");
  EXPECT_TRUE(world.runs("train"));
}

TEST(MappedJob, CountsOfAWaitingWorkloadChangeInPlace) {
  Growing mapping;
  JobWorld world(&mapping);
  world.submit(JobWorld::job("train", 9, JobWorld::queued(), kMapped));
  const std::string name = world.only_workload();
  world.change("jobs", "train", R"({"spec":{"parallelism":3,"completions":3}})");
  EXPECT_EQ(world.only_workload(), name);
  EXPECT_EQ(at(world.workload(name), "/spec/podSets/0/count"), "3");
  EXPECT_TRUE(world.runs("train"));
}

TEST(MappedJob, AFinishedWorkloadIsRemovedWhenAskedFor) {
  Growing mapping;
  JobWorld world(&mapping);
  world.submit(JobWorld::job("train", 2, JobWorld::queued(), kMapped));
  const std::string first = world.only_workload();
  world.change("jobs", "train", R"({"spec":{"parallelism":9,"completions":9}})");
  world.change("jobs", "train", R"({"spec":{"parallelism":2,"completions":2}})");
  ASSERT_THAT(world.workloads(), SizeIs(2));
  world.change("jobs", "train", R"({"metadata":{"annotations":{"shrink":"all"}}})");
  EXPECT_EQ(world.only_workload(), first) << "the one that runs stays, whoever asks";
}

TEST(MappedJob, AHolderIsNotResizedWithoutItsTraits) {
  Growing mapping;
  JobWorld world(&mapping);
  world.submit(JobWorld::job("train", 2, JobWorld::queued(), kMapped));
  const std::string name = world.only_workload();
  world.change("jobs", "train",
               R"({"metadata":{"annotations":{"shrink":"all"}},"spec":{"parallelism":1,)"
               R"("completions":1}})");
  EXPECT_EQ(at(world.workload(name), "/spec/podSets/0/count"), "2");
  EXPECT_TRUE(world.runs("train"));
}

TEST(MappedJob, WaitsWhenPluginsFailOrDisagreeAndRunsOn) {
  struct Case {
    const char* annotation;
    const char* text;
  };
  for (const auto& [annotation, text] : {Case{R"("map":"fault")", "grow: no idea"},
                                         Case{R"("map":"conflict")", "a and b both answer"}}) {
    Growing mapping;
    JobWorld world(&mapping);
    world.submit(JobWorld::job("train", 1, JobWorld::queued(), annotation));
    EXPECT_FALSE(world.runs("train"));
    EXPECT_THAT(world.workloads(), IsEmpty());
    EXPECT_THAT(world.log.lines, Contains(HasSubstr(text)));

    JobWorld running(&mapping);
    running.submit(JobWorld::job("train", 1, JobWorld::queued()));
    running.change("jobs", "train",
                   std::string(R"({"metadata":{"annotations":{)") + annotation + "}}}");
    EXPECT_TRUE(running.runs("train"));
  }
}

}  // namespace
}  // namespace sluice::host::test
