// Server-side apply and the record of owners: scenarios, then properties over random histories.
#include "host/rest/field_manager.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <random>
#include <set>

#include "api/json/json.hpp"
#include "host/rest/field_walk.hpp"
#include "host/rest/managed_fields.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

using test::scheme;

json::object parsed(const std::string& text) { return json::parse(text).get_object(); }

/// An object that several managers write.
class Shared {
 public:
  Shared(const std::string& api_version, const std::string& kind)
      : kind_(*scheme().find(api_version, kind)), api_version_(api_version) {}

  /// Empty when it was done, else the error's text.
  std::string apply(const std::string& manager, const std::string& fields, bool force = false,
                    const std::string& subresource = {}, const std::string& version = {}) {
    auto config = whole(fields);
    const FieldOwner owner{kind_, manager, subresource, now_};
    auto done = apply_configuration(scheme(), owner, version.empty() ? hub() : version,
                                    exists_ ? &object_ : nullptr, config, force);
    if (!done) {
      error_ = done.error();
      return error_.text;
    }
    object_ = std::move(*done);
    exists_ = true;
    return {};
  }

  void update(const std::string& manager, const std::string& fields,
              const std::string& subresource = {}) {
    auto after = whole(fields);
    const auto* managed = exists_ ? managed_fields() : nullptr;
    if (managed != nullptr && !after["metadata"].as_object().contains("managedFields"))
      after["metadata"].as_object()["managedFields"] = *managed;
    const FieldOwner owner{kind_, manager, subresource, now_};
    if (exists_)
      track_update(scheme(), owner, object_, after);
    else
      track_create(scheme(), owner, generated_, after);
    object_ = std::move(after);
    exists_ = true;
  }

  void create(const std::string& manager, const std::string& fields) { update(manager, fields); }
  void set_now(Time now) { now_ = now; }
  /// What is created from now on has these fields from the host.
  void set_generated(const char* fields) { generated_ = json::parse(fields).as_object(); }
  const json::object& object() const { return object_; }
  const ApiError& error() const { return error_; }
  std::string hub() const { return std::string(kind_.hub().name); }

  /// Without what every object has.
  std::string text() const {
    json::object out = object_;
    out.erase("apiVersion");
    out.erase("kind");
    auto& metadata = out["metadata"].as_object();
    metadata.erase("managedFields");
    metadata.erase("name");
    if (metadata.empty()) out.erase("metadata");
    std::string text;
    api::append_canonical_json(out, text);
    return text;
  }

  ManagedFields owners() const {
    const auto* managed = managed_fields();
    return managed != nullptr ? parse_managed_fields(*managed) : ManagedFields();
  }

  /// The fields of a manager as compact JSON; empty when it owns nothing.
  std::string fields_of(const std::string& manager) const {
    for (const auto& each : owners()) {
      if (each.manager == manager) return api::to_json(each.fields.to_json());
    }
    return {};
  }

 private:
  const json::array* managed_fields() const {
    return api::find_array(*api::find_object(object_, "metadata"), "managedFields");
  }
  json::object whole(const std::string& fields) const {
    auto out = parsed(fields);
    json::object ordered;
    ordered["apiVersion"] = api_version_;
    ordered["kind"] = kind_.kind;
    if (!out["metadata"].is_object()) out["metadata"].emplace_object();
    out["metadata"].as_object()["name"] = "x";
    for (auto& member : out) ordered[member.key()] = std::move(member.value());
    return ordered;
  }

  const api::KindInfo& kind_;
  std::string api_version_;
  json::object object_;
  ApiError error_;
  bool exists_ = false;
  json::object generated_;
  Time now_ = 0;
};

Shared pod() { return Shared("v1", "Pod"); }

TEST(Apply, CreatesAndOwnsWhatItSays) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"1"}},
      "spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]}})"),
            "");
  EXPECT_EQ(
      object.fields_of("a"),
      R"({"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:containers":)"
      R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:ports":)"
      R"({"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}})");
  const json::object entry = object.object().at("metadata").at("managedFields").at(0).get_object();
  EXPECT_EQ(api::find_text(entry, "operation"), "Apply");
  EXPECT_EQ(api::find_text(entry, "apiVersion"), "v1");
  EXPECT_EQ(api::find_text(entry, "fieldsType"), "FieldsV1");
}

TEST(Apply, TwiceIsNothing) {
  Shared object = pod();
  const std::string config =
      R"({"metadata":{"labels":{"x":"1"}},"spec":{"containers":[{"name":"c"}]}})";
  ASSERT_EQ(object.apply("a", config), "");
  const std::string before = api::to_json(object.object());
  object.set_now(1'000'000'000'000);
  ASSERT_EQ(object.apply("a", config), "");
  EXPECT_EQ(api::to_json(object.object()), before) << "not even the time";
}

TEST(Apply, RemovesWhatItLeavesOut) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"1","y":"2"}},
      "spec":{"containers":[{"name":"c","image":"i"},{"name":"d"}]}})"),
            "");
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"y":"2"}},
      "spec":{"containers":[{"name":"c"}]}})"),
            "");
  EXPECT_EQ(object.text(),
            R"({"metadata":{"labels":{"y":"2"}},"spec":{"containers":[{"name":"c"}]}})");
  ASSERT_EQ(object.apply("a", R"({"spec":{"containers":[{"name":"c"}]}})"), "");
  EXPECT_EQ(object.text(), R"({"spec":{"containers":[{"name":"c"}]}})");
}

TEST(Apply, KeepsWhatOthersOwnToo) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"1","y":"2"}}})"), "");
  ASSERT_EQ(object.apply("b", R"({"metadata":{"labels":{"x":"1"}}})"), "") << "the same value";
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"y":"2"}}})"), "");
  EXPECT_EQ(object.text(), R"({"metadata":{"labels":{"x":"1","y":"2"}}})");
  EXPECT_EQ(object.fields_of("b"), R"({"f:metadata":{"f:labels":{"f:x":{}}}})");
  ASSERT_EQ(object.apply("b", "{}"), "");
  EXPECT_EQ(object.text(), R"({"metadata":{"labels":{"y":"2"}}})");
  EXPECT_EQ(object.fields_of("b"), "");
}

TEST(Apply, ConflictsNameManagerAndField) {
  Shared object = Shared("batch/v1", "Job");
  object.create("kubectl-create", R"({"spec":{"parallelism":1,"completions":2}})");
  EXPECT_EQ(object.apply("kubectl", R"({"spec":{"parallelism":3}})"),
            "Apply failed with 1 conflict: conflict with \"kubectl-create\" using batch/v1: "
            ".spec.parallelism");
  EXPECT_EQ(object.error().code, 409);
  EXPECT_EQ(object.error().reason, "Conflict");
  ASSERT_EQ(object.error().causes.size(), 1u);
  EXPECT_EQ(object.error().causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(object.error().causes[0].message, "conflict with \"kubectl-create\" using batch/v1");
  EXPECT_EQ(object.error().causes[0].field, ".spec.parallelism");
  EXPECT_EQ(object.apply("kubectl", R"({"spec":{"parallelism":3,"completions":3}})"),
            "Apply failed with 2 conflicts: conflicts with \"kubectl-create\" using batch/v1:\n"
            "- .spec.completions\n- .spec.parallelism");
  EXPECT_EQ(object.text(), R"({"spec":{"completions":2,"parallelism":1}})") << "nothing changed";
}

TEST(Apply, ForceTakesOver) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"1","y":"2"}}})"), "");
  EXPECT_EQ(object.apply("b", R"({"metadata":{"labels":{"x":"9"}}})"),
            "Apply failed with 1 conflict: conflict with \"a\": .metadata.labels.x");
  ASSERT_EQ(object.apply("b", R"({"metadata":{"labels":{"x":"9"}}})", true), "");
  EXPECT_EQ(object.text(), R"({"metadata":{"labels":{"x":"9","y":"2"}}})");
  EXPECT_EQ(object.fields_of("a"), R"({"f:metadata":{"f:labels":{"f:y":{}}}})");
  EXPECT_EQ(object.fields_of("b"), R"({"f:metadata":{"f:labels":{"f:x":{}}}})");
}

TEST(Apply, UpdatesTakeOwnership) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"1","y":"2"}}})"), "");
  object.update("u", R"({"metadata":{"labels":{"x":"5","z":"3"}}})");
  EXPECT_EQ(object.fields_of("a"), "") << "x was changed, y removed";
  EXPECT_EQ(object.fields_of("u"), R"({"f:metadata":{"f:labels":{"f:x":{},"f:z":{}}}})");
  EXPECT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"1"}}})"),
            "Apply failed with 1 conflict: conflict with \"u\" using v1: .metadata.labels.x");
}

TEST(Apply, AtomicFieldsAreOwnedAsAWhole) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"spec":{"nodeSelector":{"x":"1"},
      "tolerations":[{"key":"k"}],"containers":[{"name":"c","command":["x"]}]}})"),
            "");
  EXPECT_EQ(
      object.fields_of("a"),
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:command":{},"f:name":{}}},)"
      R"("f:nodeSelector":{},"f:tolerations":{}}})");
  EXPECT_NE(object.apply("b", R"({"spec":{"nodeSelector":{"y":"2"}}})"), "");
  EXPECT_NE(object.apply("b", R"({"spec":{"containers":[{"name":"c","command":["y"]}]}})"), "");
}

TEST(Apply, EntriesOfListsHaveSeveralOwners) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"spec":{"containers":[{"name":"c","image":"i"}]}})"), "");
  ASSERT_EQ(object.apply("b", R"({"spec":{"containers":[{"name":"s","image":"j"},
      {"name":"c","env":[{"name":"E","value":"1"}]}]}})"),
            "");
  EXPECT_EQ(object.text(), R"({"spec":{"containers":[{"image":"j","name":"s"},)"
                           R"({"env":[{"name":"E","value":"1"}],"image":"i","name":"c"}]}})");
  ASSERT_EQ(object.apply("b", R"({"spec":{"containers":[{"name":"s","image":"j"}]}})"), "");
  EXPECT_EQ(object.text(),
            R"({"spec":{"containers":[{"image":"j","name":"s"},{"image":"i","name":"c"}]}})");
  ASSERT_EQ(object.apply("b", "{}"), "");
  EXPECT_EQ(object.text(), R"({"spec":{"containers":[{"image":"i","name":"c"}]}})");
}

TEST(Apply, SetsOfValues) {
  Shared object = pod();
  ASSERT_EQ(object.apply("a", R"({"metadata":{"finalizers":["x","y"]}})"), "");
  ASSERT_EQ(object.apply("b", R"({"metadata":{"finalizers":["z"]}})"), "");
  EXPECT_EQ(object.fields_of("b"), R"({"f:metadata":{"f:finalizers":{"v:\"z\"":{}}}})");
  ASSERT_EQ(object.apply("a", R"({"metadata":{"finalizers":["y"]}})"), "");
  EXPECT_EQ(object.text(), R"({"metadata":{"finalizers":["y","z"]}})");
}

TEST(Apply, TheFirstApplyToAnUntrackedObjectMeetsWhatIsThere) {
  Shared object = pod();
  object.create("someone", R"({"metadata":{"labels":{"x":"1"}}})");
  object.update("someone", R"({"metadata":{"labels":{"x":"1"},"managedFields":[{}]}})");
  EXPECT_TRUE(object.owners().empty()) << "reset";
  object.update("someone", R"({"metadata":{"labels":{"x":"2"}}})");
  EXPECT_TRUE(object.owners().empty()) << "not tracked any more";
  EXPECT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"3"}}})"),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: "
            ".metadata.labels.x");
  ASSERT_EQ(object.apply("a", R"({"metadata":{"labels":{"x":"2"}}})"), "");
  EXPECT_NE(object.fields_of("before-first-apply"), "");
}

TEST(Apply, StatusIsASubresource) {
  Shared object("kueue.x-k8s.io/v1beta2", "Workload");
  ASSERT_EQ(
      object.apply("a", R"({"spec":{"queueName":"q"},"status":{"requeueState":{"count":1}}})"), "");
  EXPECT_EQ(object.text(), R"({"spec":{"queueName":"q"}})");
  ASSERT_EQ(object.apply("a", R"({"spec":{"queueName":"z"},"status":{"requeueState":{"count":1}}})",
                         false, "status"),
            "");
  EXPECT_EQ(object.text(), R"({"spec":{"queueName":"q"},"status":{"requeueState":{"count":1}}})");
  ASSERT_EQ(object.owners().size(), 2u);
  EXPECT_EQ(object.owners()[1].subresource, "status");
  ASSERT_EQ(object.apply("a", R"({"spec":{"queueName":"q"}})"), "");
  EXPECT_NE(object.text().find("requeueState"), std::string::npos) << "another owner's business";
}

TEST(Apply, VersionsNameTheSameFieldsDifferently) {
  Shared object("kueue.x-k8s.io/v1beta2", "ClusterQueue");
  ASSERT_EQ(object.apply("a", R"({"spec":{"cohortName":"one"}})"), "");
  EXPECT_EQ(object.apply("b", R"({"spec":{"cohort":"two"}})", false, "", "v1beta1"),
            "Apply failed with 1 conflict: conflict with \"a\": .spec.cohortName");
}

TEST(Apply, RefusesWhatIsNoConfiguration) {
  Shared object = pod();
  EXPECT_NE(object.apply("", "{}"), "");
  EXPECT_EQ(object.error().code, 400);
  EXPECT_EQ(object.apply("a", R"({"metadata":{"managedFields":[{"manager":"x"}]}})"),
            "metadata.managedFields must be nil");
  EXPECT_NE(object.apply("a", R"({"spec":{"containers":[{"name":"c"},{"name":"c"}]}})"), "");
  EXPECT_EQ(object.error().code, 400);
  EXPECT_NE(object.apply("a", R"({"spec":{"containers":[{"image":"c"}]}})"), "");
}

TEST(Track, ACreatorOwnsEverything) {
  Shared object = pod();
  object.create("m", R"({"metadata":{"uid":"u","creationTimestamp":"2026-01-01T00:00:00Z",
      "labels":{"x":"1"}},"spec":{"containers":[{"name":"c"}]}})");
  EXPECT_EQ(object.fields_of("m"),
            R"({"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:spec":{".":{},"f:containers":)"
            R"({".":{},"k:{\"name\":\"c\"}":{".":{},"f:name":{}}}}})");
}

// Else who applies the object anew, as who created it, would take them away.
TEST(Track, WhatTheHostGeneratesIsNobodys) {
  Shared object = Shared("batch/v1", "Job");
  object.set_generated(R"({"spec":{"selector":{"matchLabels":{"uid":"u"}},
      "template":{"metadata":{"labels":{"uid":"u"}}}}})");
  object.create("m", R"({"spec":{"selector":{"matchLabels":{"uid":"u"}},"parallelism":2,
      "template":{"metadata":{"labels":{"uid":"u"}},"spec":{"restartPolicy":"Never"}}}})");
  EXPECT_EQ(object.fields_of("m"),
            R"({"f:spec":{".":{},"f:parallelism":{},"f:template":{".":{},"f:spec":{".":{},)"
            R"("f:restartPolicy":{}}}}})");
}

TEST(Track, ClientsMayRewriteTheRecord) {
  Shared object = pod();
  object.create("kubectl-client-side-apply", R"({"metadata":{"labels":{"x":"1"}}})");
  // What kubectl does when it turns to server-side apply.
  object.update("kubectl", R"({"metadata":{"labels":{"x":"1"},"managedFields":[
      {"manager":"kubectl","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",
       "fieldsV1":{"f:metadata":{"f:labels":{"f:x":{}}}}}]}})");
  ASSERT_EQ(object.owners().size(), 1u);
  ASSERT_EQ(object.apply("kubectl", R"({"metadata":{"labels":{"x":"2"}}})"), "");
  EXPECT_EQ(object.text(), R"({"metadata":{"labels":{"x":"2"}}})");
}

TEST(Track, AnEmptyListIsIgnored) {
  Shared object = pod();
  object.create("m", R"({"metadata":{"labels":{"x":"1"}}})");
  object.update("n", R"({"metadata":{"labels":{"x":"1"},"managedFields":[]}})");
  EXPECT_EQ(object.owners().size(), 1u);
}

TEST(Track, NothingChangedNothingRecorded) {
  Shared object = pod();
  object.create("m", R"({"metadata":{"labels":{"x":"1"}}})");
  const std::string before = api::to_json(object.object());
  object.set_now(1'000'000'000'000);
  object.update("n", R"({"metadata":{"labels":{"x":"1"}}})");
  EXPECT_EQ(object.owners().size(), 1u);
  std::string a, b;
  api::append_canonical_json(object.object(), a);
  api::append_canonical_json(parsed(before), b);
  EXPECT_EQ(a, b);
}

TEST(Track, OldUpdatersArePutTogether) {
  Shared object = pod();
  object.create("m", R"({"metadata":{"labels":{"x":"0"}}})");
  std::string labels;
  for (int i = 0; i < 30; ++i) {
    labels += (i ? "," : "") + ("\"l" + std::to_string(i)) + "\":\"1\"";
    object.set_now((i + 1) * 1'000'000'000LL);
    object.update("u" + std::to_string(i), R"({"metadata":{"labels":{"x":"0",)" + labels + "}}}");
  }
  const auto owners = object.owners();
  EXPECT_EQ(owners.size(), 10u);
  EXPECT_EQ(owners[0].manager, "ancient-changes");
}

TEST(FieldSet, ReadsWhatItWrites) {
  const std::string text =
      R"({"f:metadata":{"f:labels":{".":{},"f:a/b":{}}},"f:x":{"i:0":{},"k:{\"a\":1,\"b\":\"c\"}":)"
      R"({".":{},"f:y":{}},"v:\"q\"":{}}})";
  const auto set = FieldSet::parse(parsed(text));
  ASSERT_TRUE(set);
  EXPECT_EQ(api::to_json(set->to_json()), text);
  std::vector<std::string> paths;
  set->each_path([&](const std::string& path) { paths.push_back(path); });
  EXPECT_EQ(paths,
            (std::vector<std::string>{".metadata.labels", ".metadata.labels.a/b", ".x[0]",
                                      ".x[a=1,b=\"c\"]", ".x[a=1,b=\"c\"].y", ".x[=\"q\"]"}));
  for (const std::string wrong :
       {R"({"x":{}})", R"({"f:x":1})", R"({"k:x":{}})", R"({"i:\"a\"":{}})"})
    EXPECT_FALSE(FieldSet::parse(parsed(wrong))) << wrong;
}

// ---- properties

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool chance(int n) { return below(n) == 0; }

 private:
  std::mt19937 random_;
};

/// Labels with values and owners: what the rules say, in the plainest form.
class Model {
 public:
  struct Label {
    std::string value;
    std::set<std::string> owners;
  };

  /// Whether it is done.
  bool apply(const std::string& manager, const std::map<std::string, std::string>& config,
             bool force) {
    for (const auto& [key, value] : config) {
      const auto found = labels_.find(key);
      if (found == labels_.end() || found->second.value == value || force) continue;
      std::set<std::string> others = found->second.owners;
      others.erase(manager);
      if (!others.empty()) return false;
    }
    for (const auto& [key, value] : config) {
      Label& label = labels_[key];
      if (label.value != value) label.owners.clear();
      label.value = value;
      label.owners.insert(manager);
    }
    for (auto it = labels_.begin(); it != labels_.end();) {
      const bool dropped = config.count(it->first) == 0 && it->second.owners.erase(manager) != 0;
      it = dropped && it->second.owners.empty() ? labels_.erase(it) : std::next(it);
    }
    return true;
  }

  void update(const std::string& manager, const std::map<std::string, std::string>& wanted) {
    std::map<std::string, Label> after;
    for (const auto& [key, value] : wanted) {
      const auto found = labels_.find(key);
      const bool same = found != labels_.end() && found->second.value == value;
      after[key] = same ? found->second : Label{value, {manager}};
    }
    labels_ = std::move(after);
  }

  std::map<std::string, std::string> values() const {
    std::map<std::string, std::string> out;
    for (const auto& [key, label] : labels_) out[key] = label.value;
    return out;
  }
  const std::map<std::string, Label>& labels() const { return labels_; }

 private:
  std::map<std::string, Label> labels_;
};

std::string labels_json(const std::map<std::string, std::string>& labels) {
  json::object out;
  for (const auto& [key, value] : labels) out[key] = value;
  return R"({"metadata":{"annotations":{"kept":"by-creator"},"labels":)" + api::to_json(out) + "}}";
}

TEST(ApplyProperties, OwnershipIsExact) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Model model;
    Shared object = pod();
    object.create("creator", labels_json({}));
    for (int step = 0; step < 25; ++step) {
      std::map<std::string, std::string> labels;
      for (const char* key : {"a", "b", "c", "d"}) {
        if (random.chance(2)) labels[key] = std::to_string(random.below(2));
      }
      const std::string text = labels_json(labels);
      if (random.chance(3)) {
        const std::string manager = "u" + std::to_string(random.below(2));
        object.update(manager, text);
        model.update(manager, labels);
      } else {
        const std::string manager = "a" + std::to_string(random.below(3));
        const bool force = random.chance(3);
        const std::string error = object.apply(manager, text, force);
        ASSERT_EQ(error.empty(), model.apply(manager, labels, force))
            << "seed " << seed << " step " << step << ": " << error;
      }
      std::map<std::string, std::set<std::string>> owners;
      for (const auto& each : object.owners()) {
        const FieldSet* metadata = each.fields.find("f:metadata");
        const FieldSet* set = metadata != nullptr ? metadata->find("f:labels") : nullptr;
        if (set == nullptr) continue;
        for (const auto& child : set->children()) owners[child.step.substr(2)].insert(each.manager);
      }
      std::map<std::string, std::set<std::string>> expected;
      for (const auto& [key, label] : model.labels()) expected[key] = label.owners;
      ASSERT_EQ(owners, expected) << "seed " << seed << " step " << step;
      const auto* found =
          api::find_object(*api::find_object(object.object(), "metadata"), "labels");
      std::map<std::string, std::string> values;
      if (found != nullptr) {
        for (const auto& each : *found)
          values[std::string(api::view(each.key()))] = api::view(each.value().get_string());
      }
      ASSERT_EQ(values, model.values()) << "seed " << seed << " step " << step;
    }
  }
}

/// A pod spec with keyed lists inside keyed lists; `mark` goes into all names.
std::string random_spec(Random& random, const std::string& mark) {
  json::array containers;
  for (int i = 0; i < 3; ++i) {
    if (random.chance(3)) continue;
    json::object container;
    container["name"] = "c" + mark + std::to_string(i);
    if (random.chance(2)) container["image"] = "i" + std::to_string(random.below(2));
    if (random.chance(2)) container["command"] = json::array{"x", random.below(2)};
    json::array env;
    for (int e = 0; e < 3; ++e) {
      if (random.chance(2))
        env.push_back(
            {{"name", "E" + std::to_string(e)}, {"value", std::to_string(random.below(2))}});
    }
    if (!env.empty()) container["env"] = std::move(env);
    containers.push_back(std::move(container));
  }
  json::object metadata;
  if (random.chance(2))
    metadata["finalizers"] = json::array{"f" + mark + std::to_string(random.below(3))};
  if (random.chance(2))
    metadata["labels"] = json::object{{"l" + mark, std::to_string(random.below(2))}};
  json::object spec;
  if (!containers.empty()) spec["containers"] = std::move(containers);
  json::object out;
  out["metadata"] = std::move(metadata);
  if (!spec.empty()) out["spec"] = std::move(spec);
  return api::to_json(out);
}

TEST(ApplyProperties, ApplyingTwiceIsANoOpAndOwnersOwnWhatIsThere) {
  const auto& schema = *scheme().schema("v1", "Pod");
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Shared object = pod();
    for (int step = 0; step < 12; ++step) {
      const std::string manager = "m" + std::to_string(random.below(3));
      const std::string config = random_spec(random, "");
      if (random.chance(4)) {
        object.update(manager, config);
      } else {
        ASSERT_EQ(object.apply(manager, config, true), "");
        const std::string once = api::to_json(object.object());
        ASSERT_EQ(object.apply(manager, config, false), "") << "what was forced is no conflict";
        ASSERT_EQ(api::to_json(object.object()), once) << "seed " << seed << " step " << step;
        FieldWalk walk(schema, FieldWalk::Part::kAllButStatus);
        const FieldSet said = walk.leaves(parsed(config));
        bool found = said.empty();
        for (const auto& each : object.owners()) {
          if (each.manager == manager && each.applied) found = each.fields == said;
        }
        ASSERT_TRUE(found) << "an applier owns exactly what it said";
      }
      FieldWalk walk(schema, FieldWalk::Part::kAll);
      const FieldSet there = walk.fields(object.object());
      for (const auto& each : object.owners()) {
        FieldSet phantoms = each.fields;
        phantoms.subtract(there);
        ASSERT_TRUE(phantoms.empty())
            << "seed " << seed << " step " << step << ": " << api::to_json(phantoms.to_json());
      }
    }
  }
}

TEST(ApplyProperties, DisjointFieldsNeverConflict) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Shared object = pod();
    for (int step = 0; step < 12; ++step) {
      const std::string mark = std::to_string(random.below(3));
      ASSERT_EQ(object.apply("m" + mark, random_spec(random, mark)), "") << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace sluice::host
