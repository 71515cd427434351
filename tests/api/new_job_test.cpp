// What is judged when a Job or a pod is made, in the words of Kubernetes, and not when one that is
// stored is written again.
#include <gmock/gmock.h>

#include "tests/api/builtin_objects.hpp"

namespace sluice::api {
namespace {

using testing::core_scheme;
using testing::job;
using testing::pod;
using testing::problems;

struct MadeJob {
  std::string spec, expected;
};

std::string policy(const std::string& members) {
  return R"("podFailurePolicy":{"rules":[{)" + members + "}]}";
}

std::string codes(const std::string& members) {
  return policy(R"("action":"FailJob","onExitCodes":{)" + members + "}");
}

const std::string kIndexed = R"("completionMode":"Indexed",)";
const std::string kRules = "spec.podFailurePolicy.rules[0]";

const MadeJob kMadeJobs[] = {
    {codes(R"("operator":"In","values":[1,3],"containerName":"c")"), ""},
    {codes(R"("operator":"NotIn","values":[0,2])"), ""},
    {codes(R"("operator":"In","values":[0])"),
     kRules + ".onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"},
    {codes(R"("operator":"In","values":[2,2])"),
     kRules + ".onExitCodes.values[1]: Duplicate value: 2"},
    {codes(R"("operator":"In","values":[3,2])"),
     kRules + ".onExitCodes.values: Invalid value: [3,2]: must be ordered"},
    {codes(R"("operator":"In","values":[2],"containerName":"d")"),
     kRules + ".onExitCodes.containerName: Invalid value: \"d\": must be one of the container or "
              "initContainer names in the pod template"},
    {policy(R"("action":"FailIndex","onExitCodes":{"operator":"In","values":[2]})"),
     kRules + ".action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set"},
    {kIndexed + R"("completions":3,"backoffLimitPerIndex":1,)" +
         policy(R"("action":"FailIndex","onExitCodes":{"operator":"In","values":[2]})"),
     ""},
    {policy(R"("action":"Ignore")"),
     kRules +
         R"(: Invalid value: {"action":"Ignore"}: exactly one of onExitCodes and onPodConditions )"
         "must be set"},
    {kIndexed + R"("completions":3,"backoffLimitPerIndex":1,"maxFailedIndexes":4)",
     "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"},
    {kIndexed + R"("completions":3,"backoffLimitPerIndex":1,"maxFailedIndexes":3)", ""},
    {kIndexed + R"("completions":100001,"backoffLimitPerIndex":1)",
     "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"},
    {kIndexed + R"("completions":100001,"backoffLimitPerIndex":1,"maxFailedIndexes":10001)",
     "spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when "
     "completions is above 100000"},
    {kIndexed + R"("completions":100001,"parallelism":10001,"backoffLimitPerIndex":1,)"
                R"("maxFailedIndexes":1)",
     "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when "
     "completions are above 100000 and used with backoff limit per index"},
    {R"("managedBy":"kueue.x-k8s.io/multikueue")", ""},
    {R"("managedBy":"me")",
     "spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as "
     "\"acme.io/foo\")"},
};

/// With its defaults, whatever is wrong with it: as one that was taken under older rules.
boost::json::object kept(boost::json::object value) {
  core_scheme().admit(value);
  return value;
}

TEST(NewJob, IsJudged) {
  for (const MadeJob& each : kMadeJobs) {
    const auto found = problems(job(each.spec));
    if (each.expected.empty()) {
      EXPECT_THAT(found, ::testing::IsEmpty()) << each.spec;
    } else {
      EXPECT_THAT(found, ::testing::ElementsAre(each.expected)) << each.spec;
    }
  }
}

TEST(NewJob, OfOneThatIsStoredWhatCannotChangeIsNotJudgedAgain) {
  for (const MadeJob& each : kMadeJobs) {
    const auto stored = kept(job(each.spec));
    auto changed = stored;
    changed["metadata"].as_object()["labels"] = {{"l", "1"}};
    EXPECT_THAT(problems(changed, &stored), ::testing::IsEmpty()) << each.spec;
  }
}

TEST(NewJob, PodsOfAnIndexedOneHaveNamesOfHosts) {
  auto named = job(kIndexed + R"("completions":11)");
  named["metadata"].as_object()["name"] = "a.b";
  EXPECT_THAT(problems(named),
              ::testing::ElementsAre("metadata.name: Invalid value: \"a.b\": will not able to "
                                     "create pod with invalid DNS label: a.b-10"));
  named["metadata"].as_object()["name"] = std::string(60, 'a');  // 60 and "-10" are 63
  EXPECT_THAT(problems(named), ::testing::IsEmpty());
  named["metadata"].as_object()["name"] = std::string(61, 'a');
  EXPECT_EQ(problems(named).size(), 1u);
}

TEST(NewJob, NamesItsHostAndNoContainersToLookIntoIt) {
  const std::string host = R"("hostname":"../..")";
  const auto found = problems(pod(host));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], ::testing::StartsWith("spec.hostname: Invalid value: \"../..\": a "
                                              "lowercase RFC 1123 label must consist of"));
  const auto of_job = problems(job("", host));
  ASSERT_EQ(of_job.size(), 1u);
  EXPECT_THAT(of_job[0], ::testing::StartsWith("spec.template.spec.hostname: Invalid value"));
  EXPECT_THAT(problems(pod(R"("ephemeralContainers":[{"name":"e","image":"a"}])")),
              ::testing::ElementsAre("spec.ephemeralContainers: Forbidden: cannot be set when a "
                                     "pod is made, nor in a template"));
  const auto stored = kept(pod(host));
  EXPECT_THAT(problems(stored, &stored), ::testing::IsEmpty());
}

}  // namespace
}  // namespace sluice::api
