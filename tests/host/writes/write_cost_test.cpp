// No request may cost more than its size (A4 to A7): each kind of write with n and with 10 n
// entries, by what was counted, never by a clock.
//
// The cost of a write is the steps of its loops (api::Steps), and each allocation, and each 64
// bytes allocated: so a copy per entry of all entries shows without being counted by itself.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <future>
#include <new>
#include <ostream>

#include "api/json/steps.hpp"
#include "host/rest/json_patch.hpp"
#include "host/writes/published_view.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace {
thread_local std::uint64_t allocated_bytes = 0;
thread_local std::uint64_t allocations = 0;
}  // namespace

// The library's own, counted.
void* operator new(std::size_t size) {
  allocated_bytes += size;
  ++allocations;
  if (void* out = std::malloc(size == 0 ? 1 : size)) return out;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace sluice::host {
namespace {

using test::HostFixture;

std::uint64_t cost() { return api::Steps::taken() + allocations + allocated_bytes / 64; }

/// `each(i)` n times, with commas.
std::string list(std::size_t n, const std::function<std::string(std::size_t)>& each) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += (i == 0 ? "" : ",") + each(i);
  return out;
}

std::string members(std::size_t n, std::string_view value = "\"v\"") {
  return list(
      n, [&](std::size_t i) { return "\"key" + std::to_string(i) + "\":" + std::string(value); });
}

std::string pod_spec(const std::string& more) {
  return R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}])" +
         (more.empty() ? "" : "," + more) + "}";
}

std::string pod(const std::string& more) {
  return R"({"metadata":{"name":"x"},"spec":)" + pod_spec(more) + "}";
}

std::string job(const std::string& more) {
  return R"({"metadata":{"name":"x"},"spec":{"suspend":true,"template":{"spec":)" + pod_spec(more) +
         "}}}";
}

std::string workload(const std::string& more) {
  return R"({"metadata":{"name":"x"},"spec":{"podSets":[)"
         R"({"name":"main","count":1,"template":{"spec":)" +
         pod_spec(more) + "}}]}}";
}

std::string tolerations(std::size_t n) {
  return R"("tolerations":[)" +
         list(n,
              [](std::size_t i) {
                return R"({"key":"k)" + std::to_string(i) + R"(","operator":"Exists"})";
              }) +
         "]";
}

std::string env(std::size_t n) {
  return R"("env":[)" +
         list(n,
              [](std::size_t i) {
                return R"({"name":"e)" + std::to_string(i) + R"(","value":"v"})";
              }) +
         "]";
}

std::string container(const std::string& more) {
  return R"({"metadata":{"name":"x"},"spec":{"restartPolicy":"Never","containers":[)"
         R"({"name":"c","image":"i",)" +
         more + "}]}}";
}

std::string maps(const std::string& data) {
  return R"({"metadata":{"name":"x"},"data":{)" + data + "}}";
}

/// One write of `n` entries; what stands before it is made first and not counted.
struct Write {
  const char* name;
  const char* resource;
  std::function<std::string(std::size_t)> before;  ///< empty: there is none
  WriteVerb verb;
  PatchType patch;
  std::function<std::string(std::size_t)> body;
  int code = 0;                ///< with 10 n entries; 0: accepted
  std::uint64_t constant = 0;  ///< it may cost so much beside, whatever its size
  const char* subresource = "";

  friend std::ostream& operator<<(std::ostream& out, const Write& write) {
    return out << write.name;
  }
};

std::string test_name(const testing::TestParamInfo<Write>& info) { return info.param.name; }

constexpr auto kCreate = WriteVerb::kCreate;
constexpr auto kUpdate = WriteVerb::kUpdate;
constexpr auto kPatch = WriteVerb::kPatch;
constexpr auto kMerge = PatchType::kMerge;
constexpr auto kJson = PatchType::kJson;
constexpr auto kStrategic = PatchType::kStrategic;
constexpr auto kApply = PatchType::kApply;

const std::function<std::string(std::size_t)> kNone;

std::string empty_map(std::size_t) { return maps(""); }
std::string full_map(std::size_t n) { return maps(members(n)); }

/// `op` on place i, n times.
std::function<std::string(std::size_t)> operations(
    const std::function<std::string(std::size_t)>& one) {
  return [one](std::size_t n) { return "[" + list(n, one) + "]"; };
}

const Write kCreations[] = {
    {"ConfigMap", "configmaps", kNone, kCreate, kMerge, full_map},
    {"UnknownFields", "localqueues", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return R"({"metadata":{"name":"x"},"spec":{"clusterQueue":"cq",)" + members(n) + "}}";
     }},
    {"UnknownObjects", "pods", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return pod(R"("volumes":[)" +
                  list(n,
                       [](std::size_t i) {
                         return R"({"name":"v)" + std::to_string(i) + R"(","a":{"b":1},"c":null})";
                       }) +
                  "]");
     }},
    {"NodeSelectorsOfAJob", "jobs", kNone, kCreate, kMerge,
     [](std::size_t n) { return job(R"("nodeSelector":{)" + members(n) + "}"); }},
    {"NodeSelectorsOfAWorkload", "workloads", kNone, kCreate, kMerge,
     [](std::size_t n) { return workload(R"("nodeSelector":{)" + members(n) + "}"); }},
    {"TolerationsOfAWorkload", "workloads", kNone, kCreate, kMerge,
     [](std::size_t n) { return workload(tolerations(n)); }},
    {"Environment", "pods", kNone, kCreate, kMerge,
     [](std::size_t n) { return container(env(n)); }},
    {"Mistakes", "pods", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return pod(R"("tolerations":[)" + list(n, [](std::size_t) { return "{}"; }) + "]");
     },
     422},
    {"WrongTypes", "pods", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return pod(R"("tolerations":[)" + list(n, [](std::size_t) { return "[[]]"; }) + "]");
     },
     422},
    {"Duplicates", "pods", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return pod(R"("imagePullSecrets":[)" +
                  list(n, [](std::size_t) { return R"({"name":"same"})"; }) + "]");
     }},
    {"TooManyPodSets", "workloads", kNone, kCreate, kMerge,
     [](std::size_t n) {
       const auto named = [](std::size_t i) { return R"({"name":"p)" + std::to_string(i) + "\"}"; };
       return R"({"metadata":{"name":"x"},"spec":{"podSets":[)" + list(n, named) +
              R"(]},"status":{"admission":{"clusterQueue":"q","podSetAssignments":[)" +
              list(n, named) + "]}}}";
     },
     422},
    {"RulesOfARole", "roles", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return R"({"metadata":{"name":"x"},"rules":[)" +
              list(n,
                   [](std::size_t i) {
                     return R"({"verbs":["get"],"apiGroups":[""],"resources":["r)" +
                            std::to_string(i) + "\"]}";
                   }) +
              "]}";
     },
     422},
};

const Write kUpdates[] = {
    {"ReplaceConfigMap", "configmaps", full_map, kUpdate, kMerge,
     [](std::size_t n) { return maps(members(n, "\"w\"")); }},
    {"ReplacePodWithTolerations", "pods", [](std::size_t n) { return pod(tolerations(n)); }, kPatch,
     kMerge, [](std::size_t n) { return R"({"spec":{)" + tolerations(n + 1) + "}}"; }},
    {"AddKeys", "configmaps", empty_map, kPatch, kMerge,
     [](std::size_t n) { return R"({"data":{)" + members(n) + "}}"; }},
    {"DropKeys", "configmaps", full_map, kPatch, kMerge,
     [](std::size_t n) { return R"({"data":{)" + members(n, "null") + "}}"; }},
    {"AnOperationOnAPodWithTolerations", "pods", [](std::size_t n) { return pod(tolerations(n)); },
     kPatch, kJson,
     [](std::size_t) {
       return std::string(R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])");
     }},
    {"AddOneByOne", "configmaps", [](std::size_t) { return maps("\"a\":\"b\""); }, kPatch, kJson,
     operations([](std::size_t i) {
       return R"({"op":"add","path":"/data/k)" + std::to_string(i) + R"(","value":"v"})";
     })},
    {"RemoveFromTheFront", "configmaps",
     [](std::size_t n) {
       return R"({"metadata":{"name":"x","finalizers":[)" +
              list(std::min<std::size_t>(n, 90),
                   [](std::size_t i) { return "\"a/f" + std::to_string(i) + "\""; }) +
              "]}}";
     },
     kPatch, kJson, operations([](std::size_t) {
       return std::string(R"({"op":"add","path":"/metadata/finalizers/0","value":"a/b"})");
     }),
     422, PatchLimits().steps},
    {"MoveAListAgainAndAgain", "configmaps", full_map, kPatch, kJson, operations([](std::size_t i) {
       return i % 2 == 0 ? R"({"op":"move","from":"/data","path":"/other"})"
                         : R"({"op":"move","from":"/other","path":"/data"})";
     }),
     422, PatchLimits().steps},
    {"CopyAListAgainAndAgain", "configmaps", full_map, kPatch, kJson, operations([](std::size_t i) {
       return R"({"op":"copy","from":"/data","path":"/other)" + std::to_string(i) + "\"}";
     }),
     // What is copied is allocated as well, at most three MiB of it at a time.
     413, 10 * PatchLimits().steps},
};

const Write kMerges[] = {
    {"RetainKeys", "configmaps", full_map, kPatch, kStrategic,
     [](std::size_t n) {
       return R"({"data":{"$retainKeys":[)" +
              list(n, [](std::size_t i) { return "\"key" + std::to_string(i) + "\""; }) + "]}}";
     }},
    {"StrategicTolerations", "pods", [](std::size_t n) { return pod(tolerations(n)); }, kPatch,
     kStrategic, [](std::size_t n) { return R"({"spec":{)" + tolerations(n + 1) + "}}"; }},
    {"StrategicEnvironment", "jobs",
     [](std::size_t n) {
       return R"({"metadata":{"name":"x"},"spec":{"suspend":true,"template":)" + container(env(n)) +
              "}}";
     },
     kPatch, kStrategic,
     [](std::size_t n) {
       return R"({"metadata":{"labels":{"a":"b"}},"spec":{"template":{"spec":{"containers":[)"
              R"({"name":"c",)" +
              env(n) + "}]}}}}";
     }},
    {"OneContainerManyTimes", "jobs",
     [](std::size_t n) {
       return R"({"metadata":{"name":"x"},"spec":{"suspend":true,"template":)" + container(env(n)) +
              "}}";
     },
     kPatch, kStrategic,
     [](std::size_t n) {
       return R"({"spec":{"template":{"spec":{"containers":[)" +
              list(n,
                   [](std::size_t) {
                     return R"({"name":"c","$setElementOrder/env":[],"env":[{"name":"e0"}]})";
                   }) +
              "]}}}}";
     },
     422},
    {"ApplyEnvironment", "jobs", kNone, kPatch, kApply,
     [](std::size_t n) {
       return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},"spec":{"suspend":)"
              R"(true,"template":)" +
              container(env(n)) + "}}";
     }},
    {"ApplyAgain", "configmaps", full_map, kPatch, kApply,
     [](std::size_t n) {
       return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{)" +
              members(n) + "}}";
     }},
};

std::string conditions(std::size_t n) {
  return R"({"status":{"conditions":[)" +
         list(n,
              [](std::size_t i) {
                return R"({"type":"T)" + std::to_string(i) +
                       R"(","status":"True","reason":"R","message":"m",)"
                       R"("lastTransitionTime":"2026-01-01T00:00:00Z"})";
              }) +
         "]}}";
}

std::string job_with_selectors(std::size_t n) {
  return job(R"("nodeSelector":{)" + members(n) + "}");
}

std::string ray_cluster(std::size_t n) {
  return R"({"metadata":{"name":"x"},"spec":{"headGroupSpec":{"rayStartParams":{},"template":{)"
         R"("spec":{"containers":[{"name":"head","image":"i",)" +
         env(n) + R"(}]}}},"workerGroupSpecs":[]}})";
}

/// Other parts of objects, and other versions of them, than the body as it is stored.
const Write kParts[] = {
    {"StatusOfAJob", "jobs", [](std::size_t) { return job(""); }, kPatch, kMerge, conditions, 0, 0,
     "status"},
    {"StatusOfAWorkload", "workloads", [](std::size_t) { return workload(""); }, kPatch, kMerge,
     conditions, 422, 0, "status"},
    {"StatusOfALargeWorkload", "workloads", [](std::size_t n) { return workload(tolerations(n)); },
     kPatch, kMerge, [](std::size_t) { return conditions(1); }, 0, 0, "status"},
    {"StatusByApply", "jobs", [](std::size_t) { return job(""); }, kPatch, kApply,
     [](std::size_t n) {
       const std::string status = conditions(n);
       return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},)" +
              status.substr(1);
     },
     413, 0, "status"},
    {"ScaleOfALargeJob", "jobs", job_with_selectors, kPatch, kMerge,
     [](std::size_t) { return std::string(R"({"spec":{"replicas":2}})"); }, 0, 0, "scale"},
    {"RayCluster", "rayclusters", kNone, kCreate, kMerge, ray_cluster},
    {"RayClusterWithMore", "rayclusters", ray_cluster, kPatch, kMerge,
     [](std::size_t) { return std::string(R"({"metadata":{"labels":{"a":"b"}}})"); }},
    {"Labels", "configmaps", kNone, kCreate, kMerge,
     [](std::size_t n) { return R"({"metadata":{"name":"x","labels":{)" + members(n) + "}}}"; },
     422},
    {"Annotations", "configmaps", kNone, kCreate, kMerge,
     [](std::size_t n) {
       return R"({"metadata":{"name":"x","annotations":{)" + members(n) + "}}}";
     }},
};

class WriteCost : public testing::TestWithParam<Write> {};

/// What the write of n entries costs.
std::uint64_t measured(const Write& write, std::size_t n, int& code) {
  HostFixture host;
  if (write.before) {
    const auto made = host.create(write.resource, write.before(n));
    EXPECT_TRUE(made.ok()) << made.error().text.substr(0, 500);
  }
  WriteRequest request =
      host.request(write.verb, write.resource, write.verb == kCreate ? "" : "x", write.body(n));
  request.patch_type = write.patch;
  request.field_manager = "tester";
  request.force = write.patch == kApply;
  request.subresource = write.subresource;
  const std::uint64_t before = cost();
  const auto done = host.machine.write(std::move(request));
  const std::uint64_t out = cost() - before;
  code = done.ok() ? 0 : done.error().code;
  if (!done.ok()) {
    EXPECT_LT(done.error().text.size(), 100'000U);
  }
  return out;
}

TEST_P(WriteCost, A7GrowsNoWorseThanNLogN) {
  const Write& write = GetParam();
  constexpr std::size_t kEntries = 800;
  int code = 0;
  const std::uint64_t small = measured(write, kEntries, code);
  const std::uint64_t large = measured(write, 10 * kEntries, code);
  EXPECT_EQ(code, write.code);
  // Ten times the entries: 10 · log(8,000) / log(800) = 13.4; a half more for tables that double.
  const double factor = 1.5 * 10 * std::log(10.0 * kEntries) / std::log(1.0 * kEntries);
  EXPECT_LE(static_cast<double>(large),
            factor * static_cast<double>(small) + static_cast<double>(write.constant))
      << small << " for " << kEntries << ", " << large << " for ten times as many";
  RecordProperty("small", std::to_string(small));
  RecordProperty("large", std::to_string(large));
}

INSTANTIATE_TEST_SUITE_P(Create, WriteCost, testing::ValuesIn(kCreations), test_name);
INSTANTIATE_TEST_SUITE_P(Update, WriteCost, testing::ValuesIn(kUpdates), test_name);
INSTANTIATE_TEST_SUITE_P(Merge, WriteCost, testing::ValuesIn(kMerges), test_name);
INSTANTIATE_TEST_SUITE_P(Parts, WriteCost, testing::ValuesIn(kParts), test_name);

/// What is left to the thread that writes when the write comes with a draft.
std::uint64_t left_to_do(const Write& write, std::size_t n) {
  HostFixture host;
  PublishedView published(host.store, host.intake, host.clock, host.ids);
  if (write.before) {
    EXPECT_TRUE(host.create(write.resource, write.before(n)).ok());
  }
  std::promise<void> durable;
  host.store.commit([&](const Result<void>&) { durable.set_value(); });
  durable.get_future().wait();
  WriteRequest request =
      host.request(write.verb, write.resource, write.verb == kCreate ? "" : "x", write.body(n));
  request.patch_type = write.patch;
  request.field_manager = "tester";
  request.subresource = write.subresource;
  request.wants_answer = false;
  request.draft = host.machine.draft(request, published);
  const std::uint64_t before = cost();
  EXPECT_TRUE(host.machine.write(std::move(request)).ok());
  return cost() - before;
}

// Ten times the entries are no more work there: the forms that are stored come with the draft. What
// is left are copies of a text that was written.
TEST(WriteCost, A7TheThreadThatWritesPaysNoneOfIt) {
  for (const Write& write : {kCreations[0], kCreations[3], kMerges[4], kMerges[5], kUpdates[2]}) {
    const std::uint64_t small = left_to_do(write, 800), large = left_to_do(write, 8'000);
    EXPECT_LE(large, 2 * small + 8'000 * 100 / 64) << write.name << ": " << small;
    EXPECT_LE(large, 20'000U) << write.name;
  }
}

/// `owner` with n dependents, each deleted, marked or let go.
std::uint64_t cost_of_deletion(std::size_t n, Propagation propagation) {
  HostFixture host;
  EXPECT_TRUE(host.create("configmaps", R"({"metadata":{"name":"owner"}})").ok());
  const std::string uid = test::at(host.get("configmaps", "default/owner"), "/metadata/uid");
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_TRUE(host.create("configmaps",
                            R"({"metadata":{"name":"d)" + std::to_string(i) +
                                R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",)"
                                R"("name":"owner","uid":")" +
                                uid + "\"}]}}")
                    .ok());
  const std::uint64_t before = cost();
  EXPECT_TRUE(host.remove("configmaps", "owner", propagation).ok());
  return cost() - before;
}

TEST(WriteCost, A7DeletionsWithManyDependents) {
  for (const auto propagation :
       {Propagation::kBackground, Propagation::kForeground, Propagation::kOrphan}) {
    const std::uint64_t small = cost_of_deletion(50, propagation);
    const std::uint64_t large = cost_of_deletion(500, propagation);
    // 10 · log(500) / log(50) = 15.9, and a half more.
    EXPECT_LE(large, 24 * small) << static_cast<int>(propagation);
  }
}

struct Converted {
  std::uint64_t parses = 0, encodings = 0;
};

/// What a change of a workload's status converts; the workload waits and says why.
Converted converted_by_status(const std::function<void(HostFixture& host)>& change) {
  HostFixture host;
  EXPECT_TRUE(host.create("workloads", workload("")).ok());
  host.machine.run_to_rest();
  const std::uint64_t parses = api::Conversions::parses(), encoded = api::Conversions::encodings();
  change(host);
  return {api::Conversions::parses() - parses, api::Conversions::encodings() - encoded};
}

// The three texts of the object, each once; its status as it is, and as it becomes.
TEST(WriteCost, AStatusIsParsedOnceAndEncodedOnce) {
  constexpr std::string_view kCondition =
      R"({"status":{"conditions":[{"type":"Mine","status":"True","reason":"R","message":"m",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})";
  const Converted patch = converted_by_status([&](HostFixture& host) {
    WriteRequest request = host.request(kPatch, "workloads", "x", kCondition);
    request.subresource = "status";
    request.field_manager = "somebody";
    const auto done = host.machine.write(std::move(request));
    ASSERT_TRUE(done.ok()) << done.error().text;
    EXPECT_NE(done->object.status.find("Mine"), std::string::npos) << done->object.status;
    EXPECT_NE(done->object.status.find("QuotaReserved"), std::string::npos) << done->object.status;
  });
  EXPECT_EQ(patch.parses, 3U);
  EXPECT_EQ(patch.encodings, 2U);
  // A controller's, which reads the object first.
  const Converted update = converted_by_status([&](HostFixture& host) {
    ObjectAccess& objects = host.objects;
    auto object = objects.get(host.kind("workloads"), "default/x");
    boost::json::object status = api::find_object(*object, "status")
                                     ? *api::find_object(*object, "status")
                                     : boost::json::object();
    boost::json::array reclaimable;
    reclaimable.emplace_back(boost::json::object{{"name", "main"}, {"count", 0}});
    status["reclaimablePods"] = std::move(reclaimable);
    const auto done = objects.update_status(host.kind("workloads"), "default/x", std::move(status));
    ASSERT_TRUE(done.ok()) << done.error().text;
  });
  EXPECT_EQ(update.parses, 6U);
  EXPECT_EQ(update.encodings, 3U);
}

/// Many managers own the same keys by server-side apply.
std::uint64_t cost_of_managers(std::size_t managers) {
  HostFixture host;
  const auto apply = [&](const std::string& who, const std::string& more) {
    WriteRequest request =
        host.request(kPatch, "configmaps", "x",
                     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{)" +
                         members(50) + more + "}}");
    request.patch_type = kApply;
    request.field_manager = who;
    const auto done = host.machine.write(std::move(request));
    EXPECT_TRUE(done.ok()) << done.error().text;
  };
  for (std::size_t i = 0; i < managers; ++i) apply("m" + std::to_string(i), "");
  const std::uint64_t before = cost();
  apply("m0", R"(,"new":"key")");
  return cost() - before;
}

TEST(WriteCost, A7ManagersOfTheSameKeys) {
  EXPECT_LE(cost_of_managers(60), 20 * cost_of_managers(6));
}

}  // namespace
}  // namespace sluice::host
