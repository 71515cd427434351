// What goes with an object and what stays, one rule at a time: finalizers, owners that are others,
// owners across namespaces, and namespaces that are emptied.
#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

/// A host with namespace `team`.
struct Deleting : HostFixture {
  Deleting() { apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})"); }

  std::string owner(std::string_view resource, std::string_view key, std::string uid = "") {
    const auto& of = kind(resource);
    if (uid.empty()) uid = at(get(resource, key), "/metadata/uid");
    return R"({"apiVersion":")" + of.hub_api_version() + R"(","kind":")" + of.kind +
           R"(","name":")" + std::string(key.substr(key.find('/') + 1)) + R"(","uid":")" + uid +
           "\"}";
  }
  void map(const std::string& name, const std::string& metadata = "",
           const std::string& ns = "default") {
    apply(config_map(name, metadata, ns));
  }
  void flavor(const std::string& name, const std::string& metadata = "") {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":")" +
          name + "\"" + metadata + R"(},"spec":{}})");
  }
  void let_go(std::string_view resource, std::string_view name, const std::string& ns = "default") {
    WriteRequest request =
        this->request(WriteVerb::kPatch, resource, name, R"({"metadata":{"finalizers":null}})");
    if (request.kind->namespaced) request.ns = ns;
    ASSERT_TRUE(machine.write(request).ok());
  }
  std::string owners(std::string_view key) {
    return at(get("configmaps", key), "/metadata/ownerReferences");
  }
};

std::string owned_by(const std::string& owners) { return R"(,"ownerReferences":[)" + owners + "]"; }

constexpr const char* kHeld = R"(,"finalizers":["a/b"])";

TEST(Deletion, FinalizersHoldAnObjectUntilTheLastOneGoes) {
  HostFixture host;
  ASSERT_TRUE(
      host.create("resourceflavors", R"({"metadata":{"name":"f","finalizers":["a/b"]}})").ok());
  const auto marked = host.remove("resourceflavors", "f");
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(marked->removed);
  EXPECT_EQ(at(host.get("resourceflavors", "f"), "/metadata/deletionTimestamp"),
            "2026-01-01T00:00:00Z");
  // No client takes the mark away.
  ASSERT_TRUE(
      host.merge("resourceflavors", "f", R"({"metadata":{"deletionTimestamp":null}})").ok());
  EXPECT_EQ(at(host.get("resourceflavors", "f"), "/metadata/deletionTimestamp"),
            "2026-01-01T00:00:00Z");
  const auto more =
      host.merge("resourceflavors", "f", R"({"metadata":{"finalizers":["a/b","c/d"]}})");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, 403);
  const auto freed = host.merge("resourceflavors", "f", R"({"metadata":{"finalizers":null}})");
  ASSERT_TRUE(freed.ok()) << freed.error().text;
  EXPECT_TRUE(freed->removed);
  EXPECT_FALSE(host.exists("resourceflavors", "f"));
}

// owner ← one, two; two ← three.
void make_family(HostFixture& host) {
  ASSERT_TRUE(host.create("localqueues", R"({"metadata":{"name":"owner"},
      "spec":{"clusterQueue":"cq"}})")
                  .ok());
  const auto child = [&host](const std::string& name, const std::string& of) {
    const std::string uid = at(host.get("localqueues", "default/" + of), "/metadata/uid");
    const auto made = host.create(
        "localqueues", R"({"metadata":{"name":")" + name +
                           R"(","ownerReferences":[{"apiVersion":"kueue.x-k8s.io/v1beta2",
        "kind":"LocalQueue","name":")" +
                           of + R"(","uid":")" + uid +
                           R"(","blockOwnerDeletion":true}]},"spec":{"clusterQueue":"cq"}})");
    ASSERT_TRUE(made.ok()) << made.error().text;
  };
  child("one", "owner");
  child("two", "owner");
  child("three", "two");
}

TEST(Deletion, WhatAnOwnerTakesAlong) {
  const struct {
    Propagation propagation;
    std::vector<std::string> left;
  } rows[] = {
      {Propagation::kBackground, {}},
      {Propagation::kForeground, {}},
      {Propagation::kOrphan, {"default/one", "default/three", "default/two"}},
  };
  for (const auto& row : rows) {
    HostFixture host;
    make_family(host);
    ASSERT_TRUE(host.remove("localqueues", "owner", row.propagation).ok());
    const ObjectAccess& objects = host.objects;
    EXPECT_EQ(objects.keys(host.kind("localqueues")), row.left);
  }
}

TEST(Deletion, InTheForegroundTheOwnerWaitsForItsDependents) {
  HostFixture host;
  make_family(host);
  ASSERT_TRUE(host.merge("localqueues", "three", R"({"metadata":{"finalizers":["a/b"]}})").ok());
  const auto marked = host.remove("localqueues", "owner", Propagation::kForeground);
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(marked->removed);
  const ObjectAccess& objects = host.objects;
  EXPECT_EQ(objects.keys(host.kind("localqueues")),
            (std::vector<std::string>{"default/owner", "default/three", "default/two"}));
  ASSERT_TRUE(host.merge("localqueues", "three", R"({"metadata":{"finalizers":null}})").ok());
  EXPECT_EQ(objects.keys(host.kind("localqueues")), std::vector<std::string>{});
}

TEST(Deletion, ANamespaceGoesWithAllThatIsInIt) {
  HostFixture host;
  host.apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
  const auto in_team = [&](WriteVerb verb, std::string_view name, std::string_view body) {
    WriteRequest request = host.request(verb, "localqueues", name, body);
    request.ns = "team";
    return host.machine.write(request);
  };
  const char* queue = R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq"}})";
  ASSERT_TRUE(in_team(WriteVerb::kCreate, "", queue).ok());
  ASSERT_TRUE(in_team(WriteVerb::kPatch, "q", R"({"metadata":{"finalizers":["a/b"]}})").ok());
  ASSERT_TRUE(host.remove("namespaces", "team").ok());
  EXPECT_EQ(at(host.get("namespaces", "team"), "/status/phase"), "Terminating");
  const auto late = in_team(WriteVerb::kCreate, "", queue);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, 403);
  ASSERT_TRUE(in_team(WriteVerb::kPatch, "q", R"({"metadata":{"finalizers":null}})").ok());
  EXPECT_FALSE(host.exists("namespaces", "team"));
}

// A20: a plugin, or any client, could delete the namespace that every host has.
TEST(Deletion, A20_TheNamespacesOfEveryHostStay) {
  HostFixture host;
  const auto refused = host.remove("namespaces", "default");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, 403);
  EXPECT_NE(refused.error().text.find("this namespace may not be deleted"), std::string::npos);
  EXPECT_FALSE(static_cast<ObjectAccess&>(host.objects)
                   .remove(host.kind("namespaces"), "default", Propagation::kBackground, {})
                   .ok());
  EXPECT_TRUE(host.exists("namespaces", "default"));
}

// m is of a and of b: it stays as long as one of them does, however that is deleted.
TEST(Owners, TheLastOneTakesItAlong) {
  for (const auto how : {Propagation::kBackground, Propagation::kForeground}) {
    Deleting host;
    host.map("a");
    host.map("b");
    const std::string b = host.owner("configmaps", "default/b");
    host.map("m", owned_by(host.owner("configmaps", "default/a") + "," + b));
    ASSERT_TRUE(host.remove("configmaps", "a", Propagation::kBackground).ok());
    EXPECT_EQ(host.owners("default/m"), "[" + b + "]");
    ASSERT_TRUE(host.remove("configmaps", "b", how).ok());
    EXPECT_FALSE(host.exists("configmaps", "default/m"));
  }
}

TEST(Owners, OrphansForgetTheOneThatGoes) {
  Deleting host;
  host.map("a");
  host.map("b");
  const std::string b = host.owner("configmaps", "default/b");
  host.map("m", owned_by(host.owner("configmaps", "default/a") + "," + b));
  ASSERT_TRUE(host.remove("configmaps", "a", Propagation::kOrphan).ok());
  EXPECT_EQ(host.owners("default/m"), "[" + b + "]");
  ASSERT_TRUE(host.remove("configmaps", "b", Propagation::kOrphan).ok());
  EXPECT_EQ(host.owners("default/m"), "(absent)");
}

// A flavor is in no namespace, and what it owns is in one.
TEST(Owners, MayBeInNoNamespace) {
  Deleting host;
  host.flavor("f");
  host.map("m", kHeld + owned_by(host.owner("resourceflavors", "f")), "team");
  ASSERT_TRUE(host.remove("resourceflavors", "f", Propagation::kForeground).ok());
  EXPECT_EQ(at(host.get("resourceflavors", "f"), "/metadata/finalizers"),
            R"(["foregroundDeletion"])");
  host.let_go("configmaps", "m", "team");
  EXPECT_FALSE(host.exists("resourceflavors", "f"));
}

// e in another namespace names o's UID: it neither holds o nor goes with it, nor is it written.
TEST(Owners, OwnNothingInOtherNamespaces) {
  for (const Propagation how :
       {Propagation::kForeground, Propagation::kBackground, Propagation::kOrphan}) {
    Deleting host;
    host.map("o");
    host.map("e", kHeld + owned_by(host.owner("configmaps", "default/o")), "team");
    const std::uint64_t before = host.version("configmaps", "team/e");
    ASSERT_TRUE(host.remove("configmaps", "o", how).ok());
    EXPECT_FALSE(host.exists("configmaps", "default/o"));
    EXPECT_EQ(host.version("configmaps", "team/e"), before);
  }
}

// d names an owner of o's name that is long gone: that d goes says nothing of o, which waits for e.
TEST(Owners, ANamesakeIsNotMeant) {
  Deleting host;
  host.map("o");
  host.map("d", owned_by(host.owner("configmaps", "default/o", "another")));
  host.map("e", kHeld + owned_by(host.owner("configmaps", "default/o")));
  ASSERT_TRUE(host.remove("configmaps", "o", Propagation::kForeground).ok());
  ASSERT_TRUE(host.remove("configmaps", "d").ok());
  EXPECT_TRUE(host.exists("configmaps", "default/o"));
  host.let_go("configmaps", "e");
  EXPECT_FALSE(host.exists("configmaps", "default/o"));
}

// o waits for its own finalizer, or is not being deleted at all: its dependents' end is none of its
// business, and it is not written.
TEST(Owners, WhoDoesNotWaitIsLeftAlone) {
  for (const bool terminating : {false, true}) {
    Deleting host;
    host.map("o", kHeld);
    host.map("m", owned_by(host.owner("configmaps", "default/o")));
    if (terminating) {
      ASSERT_TRUE(host.remove("configmaps", "o").ok());
    }
    const std::uint64_t before = host.version("configmaps", "default/o");
    ASSERT_TRUE(host.remove("configmaps", "m").ok());
    EXPECT_EQ(host.version("configmaps", "default/o"), before);
  }
}

// o waits for m, and has a finalizer beside: when m is gone, that holds it alone.
TEST(Owners, AFinalizerHoldsAnOwnerThatWaitedForOthers) {
  Deleting host;
  host.map("o", kHeld);
  host.map("m", kHeld + owned_by(host.owner("configmaps", "default/o")));
  ASSERT_TRUE(host.remove("configmaps", "o", Propagation::kForeground).ok());
  EXPECT_EQ(at(host.get("configmaps", "default/o"), "/metadata/finalizers"),
            R"(["a/b","foregroundDeletion"])");
  host.let_go("configmaps", "m");
  EXPECT_EQ(at(host.get("configmaps", "default/o"), "/metadata/finalizers"), R"(["a/b"])");
  host.let_go("configmaps", "o");
  EXPECT_FALSE(host.exists("configmaps", "default/o"));
}

// As often as one likes: what was deleted before, under the same names, is forgotten.
TEST(Owners, InTheForegroundDependentsGoEachTime) {
  Deleting host;
  for (int i = 0; i < 2; ++i) {
    host.map("o");
    host.map("m", kHeld + owned_by(host.owner("configmaps", "default/o")));
    ASSERT_TRUE(host.remove("configmaps", "o", Propagation::kForeground).ok());
    EXPECT_TRUE(host.exists("configmaps", "default/o")) << i;
    host.let_go("configmaps", "m");
    EXPECT_FALSE(host.exists("configmaps", "default/m")) << i;
    EXPECT_FALSE(host.exists("configmaps", "default/o")) << i;
  }
}

// What is marked has changed: its generation is 2. Deleted again, it is as it was.
TEST(Marks, AreMadeOnce) {
  Deleting host;
  host.map("m", kHeld);
  ASSERT_TRUE(host.remove("configmaps", "m").ok());
  EXPECT_EQ(at(host.get("configmaps", "default/m"), "/metadata/generation"), "2");
  const std::uint64_t before = host.version("configmaps", "default/m");
  ASSERT_TRUE(host.remove("configmaps", "m").ok());
  EXPECT_EQ(host.version("configmaps", "default/m"), before);
}

// A pod goes with its owner, and has its time.
TEST(Marks, APodThatGoesAlongHasItsTime) {
  Deleting host;
  host.map("o");
  host.apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default")" +
             owned_by(host.owner("configmaps", "default/o")) +
             R"(},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})");
  ASSERT_TRUE(host.remove("configmaps", "o").ok());
  EXPECT_FALSE(host.exists("configmaps", "default/o"));
  EXPECT_EQ(at(host.get("pods", "default/p"), "/metadata/deletionGracePeriodSeconds"), "30");
}

// A namespace that is not empty is marked; nothing that is written into it ends it, nor does a
// second deletion write it.
TEST(Namespaces, StayUntilTheyAreEmpty) {
  Deleting host;
  host.map("m", kHeld, "team");
  host.map("other");
  ASSERT_TRUE(host.remove("namespaces", "team").ok());
  EXPECT_EQ(at(host.get("namespaces", "team"), "/metadata/generation"), "2");
  EXPECT_EQ(at(host.get("namespaces", "team"), "/metadata/deletionGracePeriodSeconds"), "0");
  const std::uint64_t before = host.version("namespaces", "team");
  ASSERT_TRUE(host.remove("namespaces", "team").ok());
  EXPECT_EQ(host.version("namespaces", "team"), before);
  ASSERT_TRUE(host.merge("namespaces", "team", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  EXPECT_TRUE(host.exists("namespaces", "team"));
  host.let_go("configmaps", "m", "team");
  EXPECT_FALSE(host.exists("namespaces", "team"));
  EXPECT_TRUE(host.exists("configmaps", "default/other"));
}

TEST(Namespaces, AnEmptyOneGoesAtOnce) {
  Deleting host;
  host.map("other", kHeld, "default");
  const auto done = host.remove("namespaces", "team");
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->removed);
}

// Objects and a finalizer: it goes when neither is left, in any order.
TEST(Namespaces, HaveFinalizersToo) {
  for (const bool objects_first : {false, true}) {
    Deleting host;
    ASSERT_TRUE(host.merge("namespaces", "team", R"({"metadata":{"finalizers":["a/b"]}})").ok());
    host.map("m", kHeld, "team");
    ASSERT_TRUE(host.remove("namespaces", "team").ok());
    if (objects_first) host.let_go("configmaps", "m", "team");
    host.let_go("namespaces", "team");
    EXPECT_EQ(host.exists("namespaces", "team"), !objects_first);
    if (!objects_first) host.let_go("configmaps", "m", "team");
    EXPECT_FALSE(host.exists("namespaces", "team"));
  }
}

// The namespace and a flavor own each other: nothing else holds them. So do a flavor that has the
// name of a namespace, which is not empty, and another one.
TEST(Namespaces, ACircleMayGoThroughOne) {
  Deleting host;
  host.flavor("f", owned_by(host.owner("namespaces", "team")));
  ASSERT_TRUE(
      host.merge("namespaces", "team",
                 R"({"metadata":{"ownerReferences":[)" + host.owner("resourceflavors", "f") + "]}}")
          .ok());
  ASSERT_TRUE(host.remove("namespaces", "team", Propagation::kForeground).ok());
  EXPECT_FALSE(host.exists("namespaces", "team"));
  EXPECT_FALSE(host.exists("resourceflavors", "f"));
  host.map("m");
  host.flavor("default");
  host.flavor("g", owned_by(host.owner("resourceflavors", "default")));
  ASSERT_TRUE(
      host.merge("resourceflavors", "default",
                 R"({"metadata":{"ownerReferences":[)" + host.owner("resourceflavors", "g") + "]}}")
          .ok());
  ASSERT_TRUE(host.remove("resourceflavors", "default", Propagation::kForeground).ok());
  EXPECT_FALSE(host.exists("resourceflavors", "default"));
  EXPECT_FALSE(host.exists("resourceflavors", "g"));
  EXPECT_TRUE(host.exists("configmaps", "default/m"));
}

// A namespace that is not empty holds a circle that goes through it.
TEST(Namespaces, ACircleWaitsForWhatIsInOne) {
  Deleting host;
  host.map("m", kHeld, "team");
  host.flavor("f", owned_by(host.owner("namespaces", "team")));
  ASSERT_TRUE(
      host.merge("namespaces", "team",
                 R"({"metadata":{"ownerReferences":[)" + host.owner("resourceflavors", "f") + "]}}")
          .ok());
  ASSERT_TRUE(host.remove("namespaces", "team", Propagation::kForeground).ok());
  EXPECT_TRUE(host.exists("namespaces", "team"));
  EXPECT_TRUE(host.exists("resourceflavors", "f"));
  host.let_go("configmaps", "m", "team");
  EXPECT_FALSE(host.exists("namespaces", "team"));
  EXPECT_FALSE(host.exists("resourceflavors", "f"));
}

TEST(Namespaces, ThoseOfEveryHostAreTwo) {
  Deleting host;
  const auto said = [&](const char* resource, const char* key) {
    const auto refused = refuses_to_go({&host.kind(resource), key});
    return refused ? refused->text : "";
  };
  const std::string why = " is forbidden: this namespace may not be deleted";
  EXPECT_EQ(said("namespaces", "default"), "namespaces \"default\"" + why);
  EXPECT_EQ(said("namespaces", "kube-system"), "namespaces \"kube-system\"" + why);
  EXPECT_EQ(said("namespaces", "team"), "");
  EXPECT_EQ(said("resourceflavors", "default"), "");
}

}  // namespace
}  // namespace sluice::host::test
