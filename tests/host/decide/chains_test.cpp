// Which objects are written about in one order.
#include "host/decide/chains.hpp"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "core/base/check.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

struct Owner {
  const char *version, *kind, *name;
  bool controls = false;
};

class Chains : public ::testing::Test {
 protected:
  Chains() {
    const auto added = scheme.add(
        R"({"kind": "Pod", "group": "", "versions": [], "together": "example.com/team"})", "p");
    SLUICE_CHECK(added.ok(), added.error().text);
    const auto followed = scheme.add(
        R"({"kind": "Maker", "group": "example.com", "plural": "makers", "scope": "Namespaced",
            "internal": true, "versions": [{"version": "v1", "storage": true,
            "fields": [{"path": "spec", "type": "any"}]}]})",
        "q");
    SLUICE_CHECK(followed.ok(), followed.error().text);
  }

  StoredObject made(const char* version, const char* kind, const std::string& name,
                    const std::vector<Owner>& owners, const char* team = nullptr) {
    json::object metadata{{"name", name}, {"namespace", "ns"}, {"uid", "uid-" + name}};
    json::array list;
    for (const Owner& each : owners)
      list.push_back(json::object{{"apiVersion", each.version},
                                  {"kind", each.kind},
                                  {"name", each.name},
                                  {"uid", std::string("uid-") + each.name},
                                  {"controller", each.controls}});
    if (!list.empty()) metadata["ownerReferences"] = std::move(list);
    if (team) metadata["labels"] = json::object{{"example.com/team", team}};
    return to_stored(*scheme.find(version, kind),
                     {{"metadata", std::move(metadata)}, {"spec", json::object()}}, pool);
  }
  void put(StoredObject object) {
    index.update({object.kind, object.key, &object, nullptr});
    store.put(std::move(object));
  }
  std::string chain(const StoredObject& object) const { return chain_of(object, store, index); }

  api::Scheme scheme;
  TextPool pool;
  MemoryStore store;
  ObjectIndex index{ObjectIndex::Uids::kKept};
};

constexpr const char* kKueue = "kueue.x-k8s.io/v1beta2";

TEST_F(Chains, AllBelowOneOwnerIsOne) {
  put(made("batch/v1", "Job", "job", {}));
  put(made(kKueue, "Workload", "w", {{"batch/v1", "Job", "job", true}}));
  EXPECT_EQ(chain(made(kKueue, "Workload", "option", {{kKueue, "Workload", "w"}})), "uid-job");
  EXPECT_EQ(chain(made("batch/v1", "Job", "other", {})), "uid-other");
}

TEST_F(Chains, ObjectsThatBelongTogetherAreOneWithWhatTheyOwn) {
  put(made("v1", "Pod", "a", {}, "red"));
  put(made("v1", "Pod", "b", {{"apps/v1", "ReplicaSet", "r", true}}, "red"));
  const std::string red = chain(made("v1", "Pod", "a", {}, "red"));
  EXPECT_EQ(chain(made("v1", "Pod", "b", {{"apps/v1", "ReplicaSet", "r", true}}, "red")), red);
  EXPECT_EQ(chain(made(kKueue, "Workload", "red", {{"v1", "Pod", "a"}, {"v1", "Pod", "b"}})), red);
  // An owner that is gone already changes nothing.
  EXPECT_EQ(chain(made(kKueue, "Workload", "red", {{"v1", "Pod", "gone"}, {"v1", "Pod", "b"}})),
            red);
  EXPECT_NE(chain(made("v1", "Pod", "c", {}, "blue")), red);
  EXPECT_EQ(chain(made("v1", "Pod", "c", {})), "uid-c");
}

// Some of its pods may name their group in an annotation.
TEST_F(Chains, AnAnnotationNamesThemAsWell) {
  StoredObject annotated = made("v1", "Pod", "a", {});
  json::object metadata = json::parse(annotated.metadata.text()).as_object();
  metadata["annotations"] = json::object{{"example.com/team", "red"}};
  annotated = to_stored(*annotated.kind, {{"metadata", metadata}, {"spec", json::object()}}, pool);
  EXPECT_EQ(chain(annotated), chain(made("v1", "Pod", "b", {}, "red")));
}

// Of a kind that a plugin follows on a cluster: what it owns is let go in the order of its chain.
TEST_F(Chains, PodsOfWhatAPluginTakesForAJobAreOfItsChain) {
  put(made("example.com/v1", "Maker", "set", {}));
  EXPECT_EQ(chain(made("v1", "Pod", "p", {{"example.com/v1", "Maker", "set", true}}, "red")),
            "uid-set");
  EXPECT_EQ(chain(made(kKueue, "Workload", "red", {{"example.com/v1", "Maker", "set"}})),
            "uid-set");
}

TEST_F(Chains, PodsOfAJobAreOfItsChainWhateverTheySay) {
  put(made("batch/v1", "Job", "job", {}));
  EXPECT_EQ(chain(made("v1", "Pod", "p", {{"batch/v1", "Job", "job", true}}, "red")), "uid-job");
}

}  // namespace
}  // namespace sluice::host
