// What plugins add to the schemas: fields, rules, values per version, kinds.
#include <gmock/gmock.h>

#include "api/codec/codec.hpp"
#include "api/schema/no_effect.hpp"
#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using ::testing::HasSubstr;
using testing::kueue;

constexpr const char* kColours = R"({
  "kind": "ClusterQueue", "group": "kueue.x-k8s.io",
  "versions": [
    {"version": "v1beta2", "columns": [{"name": "Colour", "path": ".spec.paint.colour"}],
     "fields": [
       {"path": "spec.paint", "type": "object", "default": {}},
       {"path": "spec.paint.colour", "type": "string", "default": "Grey",
        "enum": ["Grey", "Red"], "description": "What it looks like."},
       {"path": "spec.paint.gloss", "type": "boolean"}],
     "rules": [{"at": "spec.paint", "rule": "allowedIf", "field": "gloss",
                "when": {"colour": ["Red"]}, "message": "only red shines"}]},
    {"version": "v1beta1",
     "fields": [
       {"path": "spec.paint", "type": "object", "default": {}},
       {"path": "spec.paint.colour", "type": "string", "default": "Gray", "enum": ["Gray", "Red"]},
       {"path": "spec.paint.gloss", "type": "boolean"}]}],
  "valueMappings": [{"version": "v1beta1", "path": "spec.paint.colour",
                     "toStorage": {"Gray": "Grey"}, "fromStorage": {"Grey": "Gray"}}]})";

TEST(Contribution, AddsFieldsWithDefaultsAndRules) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add(kColours, "paint").ok());
  auto plain = kueue("ClusterQueue", "{}");
  ASSERT_TRUE(scheme.admit(plain).ok());
  EXPECT_EQ(plain["spec"].at("paint").at("colour"), "Grey");
  EXPECT_EQ(scheme.find("kueue.x-k8s.io/v1beta2", "ClusterQueue")->versions[0].columns.back().name,
            "Colour");

  auto wrong = kueue("ClusterQueue", R"({"paint":{"colour":"Blue"}})");
  EXPECT_EQ(scheme.admit(wrong).error_text(),
            R"(spec.paint.colour: Unsupported value: "Blue": supported values: "Grey", "Red")");
  auto dull = kueue("ClusterQueue", R"({"paint":{"gloss":true}})");
  EXPECT_EQ(scheme.admit(dull).error_text(),
            R"(spec.paint: Invalid value: "object": only red shines)");
  auto shiny = kueue("ClusterQueue", R"({"paint":{"colour":"Red","gloss":true}})");
  EXPECT_TRUE(scheme.admit(shiny).ok());
}

TEST(Contribution, AnObjectMayTakeMoreThanIsDescribed) {
  Scheme scheme;
  ASSERT_TRUE(scheme
                  .add(R"({"kind":"Thing","group":"example.com","plural":"things",
      "scope":"Namespaced","versions":[{"version":"v1","storage":true,"status":true,"fields":[
        {"path":"status","type":"object","open":true},
        {"path":"status.count","type":"integer"}]}]})",
                       "p")
                  .ok());
  auto thing = boost::json::parse(R"({"apiVersion":"example.com/v1","kind":"Thing",
      "metadata":{"name":"t","namespace":"default"},
      "status":{"count":1,"parts":[{"name":"a","active":2}]}})")
                   .as_object();
  EXPECT_EQ(scheme.admit(thing).error_text(), "");
  EXPECT_EQ(boost::json::serialize(thing.at("status")),
            R"({"count":1,"parts":[{"name":"a","active":2}]})");
  thing["status"].as_object()["count"] = "many";
  EXPECT_THAT(scheme.admit(thing).error_text(), HasSubstr("status.count"));
}

/// What a host writes into the status of a kind of jobs is of the kind, unless the contribution
/// describes it itself.
TEST(Contribution, AKindOfJobsHasTheStatusThatAHostWrites) {
  const auto kind = [](const std::string& fields) {
    return R"({"kind":"Render","group":"example.com","plural":"renders","scope":"Namespaced",
      "versions":[{"version":"v1","storage":true,"status":true,"fields":[
        {"path":"spec","type":"object"},{"path":"spec.frames","type":"integer"},
        {"path":"spec.template","type":"PodTemplateSpec"})" +
           fields + R"(]}],
      "job":{"podSets":[{"name":"main","template":".spec.template","count":".spec.frames"}]}})";
  };
  const auto read = [](const std::string& status) {
    return boost::json::parse(R"({"apiVersion":"example.com/v1","kind":"Render","metadata":
      {"name":"a","namespace":"b"},"spec":{"frames":1,"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"i"}]}}},"status":)" +
                              status + "}")
        .as_object();
  };
  const std::string written =
      R"({"podSets":[{"name":"main","count":1,"active":0,"ready":0,"succeeded":1,"failed":0}],)"
      R"("startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:01:00Z",)"
      R"("conditions":[{"type":"Complete","status":"True","reason":"PodsSucceeded",)"
      R"("message":"All pods succeeded","lastTransitionTime":"2026-01-01T00:01:00Z"}]})";
  Scheme scheme;
  const auto added = scheme.add(kind(""), "render");
  ASSERT_TRUE(added.ok()) << added.error().text;
  auto object = read(written);
  const Outcome outcome = scheme.admit(object);
  EXPECT_TRUE(outcome.ok()) << outcome.error_text();
  EXPECT_TRUE(outcome.warnings.empty()) << outcome.warnings[0].text();
  auto other = read(R"({"progress":1})");
  ASSERT_EQ(scheme.admit(other).warnings.size(), 1u);

  // What a contribution says of it itself counts.
  Scheme its_own;
  const auto own = its_own.add(
      kind(R"(,{"path":"status","type":"object"},{"path":"status.podSets","type":"any"})"),
      "render");
  ASSERT_TRUE(own.ok()) << own.error().text;
  auto free = read(R"({"podSets":{"main":1},"startTime":"2026-01-01T00:00:00Z"})");
  EXPECT_TRUE(its_own.admit(free).warnings.empty());
}

TEST(Contribution, ItsFieldsAreUnknownWithoutIt) {
  auto queue = kueue("ClusterQueue", R"({"paint":{"colour":"Red"}})");
  const Outcome outcome = testing::core_scheme().admit(queue);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].text(), R"(unknown field "spec.paint")");
}

TEST(Contribution, ValuesAreMappedBetweenVersions) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add(kColours, "paint").ok());
  auto old = kueue("ClusterQueue", "{}", "v1beta1");
  ASSERT_TRUE(scheme.admit(old).ok());
  EXPECT_EQ(old["spec"].at("paint").at("colour"), "Grey");
  ASSERT_TRUE(scheme.to_version(old, "v1beta1").ok());
  EXPECT_EQ(old["spec"].at("paint").at("colour"), "Gray");
}

TEST(Contribution, AFieldThatAPluginGivesAMeaningHasAnEffect) {
  const auto queue = kueue("LocalQueue", R"({"clusterQueue":"c","fairSharing":{"weight":"2"}})");
  Scheme scheme;
  const auto told = [&] {
    const KindInfo* kind = scheme.find("kueue.x-k8s.io/v1beta2", "LocalQueue");
    return without_effect(kind->group, kind->kind, queue, kind->effective).size();
  };
  EXPECT_EQ(told(), 1U);
  constexpr std::string_view kKind = R"({"kind":"LocalQueue","group":"kueue.x-k8s.io","gives":)";
  ASSERT_TRUE(scheme.add(std::string(kKind) + R"(["spec.other"]})", "other").ok());
  EXPECT_EQ(told(), 1U);
  const auto wrong = scheme.add(std::string(kKind) + R"([7]})", "wrong");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text.find("gives: 7 is no path of a field"), std::string::npos);
  ASSERT_TRUE(scheme.add(std::string(kKind) + R"(["spec.fairSharing"]})", "shares").ok());
  EXPECT_EQ(told(), 0U);
}

TEST(Contribution, ExtensionsAreWhatItAdded) {
  Scheme scheme;
  ASSERT_TRUE(scheme
                  .add(R"([{"kind":"Workload","group":"kueue.x-k8s.io","versions":[{
        "version":"v1beta2","fields":[
          {"path":"spec.mood","type":"string"},
          {"path":"status.moods","type":"array","listKeys":["name"]},
          {"path":"status.moods[].name","type":"string","required":true}]}]}])",
                       "moods")
                  .ok());
  auto workload = kueue("Workload", R"({"mood":"calm",)" + testing::pod_sets() + "}");
  workload["status"] = testing::object(R"({"moods":[{"name":"a"}],"clusterName":"c"})");
  ASSERT_TRUE(scheme.admit(workload).ok());
  PodTemplateCache templates;
  EXPECT_EQ(decode_workload(workload, templates, scheme).extensions,
            R"({"spec":{"mood":"calm"},"status":{"moods":[{"name":"a"}]}})");
  auto plain = kueue("Workload", "{" + testing::pod_sets() + "}");
  ASSERT_TRUE(scheme.admit(plain).ok());
  EXPECT_EQ(decode_workload(plain, templates, scheme).extensions, "");
}

TEST(Contribution, AddsKinds) {
  Scheme scheme;
  ASSERT_TRUE(scheme
                  .add(R"({"kind":"Budget","group":"example.com","plural":"budgets",
        "shortNames":["bg"],"scope":"Cluster","versions":[{"version":"v1","storage":true,
        "fields":[{"path":"spec","type":"object","required":true},
                  {"path":"spec.limit","type":"quantity","required":true},
                  {"path":"spec.tags{}","type":"string"}],
        "rules":[{"at":"spec.limit","rule":"immutable","message":"field is immutable"}]}]})",
                       "budget")
                  .ok());
  const KindInfo* info = scheme.find_by_name("bg");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->contributed_by, "budget");
  const auto budget = [](const std::string& rest) {
    return testing::object(R"({"apiVersion":"example.com/v1","kind":"Budget",
                               "metadata":{"name":"b"})" +
                           rest + "}");
  };
  auto empty = budget("");
  EXPECT_EQ(scheme.admit(empty).error_text(), "spec: Required value");
  auto one = budget(R"(,"spec":{"limit":"1","tags":{"a":"b"}})");
  EXPECT_TRUE(scheme.admit(one).ok());
  auto two = budget(R"(,"spec":{"limit":"2"})");
  EXPECT_EQ(scheme.admit(two, &one).error_text(),
            R"(spec.limit: Invalid value: "2": field is immutable)");
}

TEST(Contribution, ConflictsAndMistakesChangeNothing) {
  struct Case {
    const char* json;
    const char* error;
  };
  const std::string queue = R"({"kind":"ClusterQueue","group":"kueue.x-k8s.io","versions":[)";
  const auto fields = [&](const std::string& list) {
    return queue + R"({"version":"v1beta2","fields":[)" + list + "]}]}";
  };
  Scheme scheme;
  ASSERT_TRUE(scheme.add(kColours, "paint").ok());
  for (const auto& [json, error] : std::vector<std::pair<std::string, std::string>>{
           {"{", "not JSON"},
           {"[7]", "must be a JSON object"},
           {"{}", "kind: required"},
           {fields(R"({"path":"spec.paint","type":"object"})"),
            R"(field "spec.paint" exists already in version v1beta2, contributed by paint)"},
           {fields(R"({"path":"spec.stopPolicy","type":"string"})"),
            R"(field "spec.stopPolicy" exists already in version v1beta2, it is a field of the )"
            R"(core)"},
           {fields(R"({"path":"spec.x","type":"colour"})"), R"(type "colour" is not known)"},
           {fields(R"({"path":"spec.x","type":"string","maxLen":3})"), R"(unknown key "maxLen")"},
           {fields(R"({"path":"spec.x","type":"string","format":"email"})"),
            R"(format "email" is not known)"},
           {queue + R"({"version":"v7","fields":[]}]})", R"(ClusterQueue has no version "v7")"},
           {queue +
                R"({"version":"v1beta2","rules":[{"at":"spec","rule":"magic","message":"m"}]}]})",
            R"(rule "magic" at spec is not known)"},
           {R"({"kind":"Workload","group":"kueue.x-k8s.io","plural":"workloads"})",
            "Workload: the kind exists already, it belongs to the core"},
           {R"({"kind":"New","group":"g","versions":[]})", "plural: required for a new kind"},
           {R"({"kind":"New","group":"g","plural":"news","scope":"Cluster",)"
            R"("versions":[{"version":"v1"}]})",
            R"(exactly one version must say "storage": true)"},
       }) {
    const auto added = scheme.add(json, "bad");
    ASSERT_FALSE(added.ok()) << json;
    EXPECT_THAT(added.error().text, HasSubstr(error));
    EXPECT_THAT(added.error().text, HasSubstr("bad: schema contribution"));
  }
  EXPECT_EQ(scheme.find("g/v1", "New"), nullptr);
  auto plain = kueue("ClusterQueue", "{}");
  ASSERT_TRUE(scheme.admit(plain).ok());
  EXPECT_FALSE(plain["spec"].as_object().contains("x"));
}

/// Each ClusterQueue got the default `zz`, and none could be replaced any more.
TEST(Contribution, DefaultsAndLimitsDoNotContradictEachOther) {
  const auto fields = [](const std::string& list) {
    return R"({"kind":"ClusterQueue","group":"kueue.x-k8s.io","versions":[{"version":"v1beta2",)"
           R"("fields":[)" +
           list + "]}]}";
  };
  const auto field = [&](const std::string& rest) {
    return fields(R"({"path":"spec.x",)" + rest + "}");
  };
  const std::string at = "ClusterQueue v1beta2: spec.x: default: ";
  Scheme scheme;
  for (const auto& [json, error] : std::vector<std::pair<std::string, std::string>>{
           {field(R"("type":"quantity","default":"zz")"), at + R"(Invalid value: "zz": )"},
           {field(R"("type":"time","default":"zz")"), at + R"(Invalid value: "zz": )"},
           {field(R"("type":"string","default":5)"),
            at + "Invalid value: 5: x in body must be of "},
           {field(R"("type":"string","default":null)"), at + "Required value"},
           {field(R"("type":"boolean","default":"true")"), at + R"(Invalid value: "true")"},
           {field(R"("type":"int32","default":2147483648)"), at + "Invalid value: 2147483648"},
           {field(R"("type":"string","enum":["a"],"default":"b")"),
            at + R"(Unsupported value: "b": supported values: "a")"},
           {field(R"("type":"integer","min":2,"max":4,"default":5)"),
            at + "Invalid value: 5: x in body should be less than or equal to 4"},
           {field(R"("type":"string","maxLength":2,"default":"abc")"), at + "Too long"},
           {field(R"("type":"array","items":"Toleration","default":[7])"),
            "spec.x[0]: default: Invalid value: 7"},
           {fields(R"({"path":"spec.x","type":"object","default":{"z":1}},)"
                   R"({"path":"spec.x.y","type":"string"})"),
            R"(spec.x.z: default: unknown field "x.z")"},
           // One of the core: {} would no longer be a spec.preemption.
           {fields(R"({"path":"spec.preemption.y","type":"string","required":true})"),
            "spec.preemption.y: default: Required value"},
           {fields(R"({"path":"spec.x","type":"array"},{"path":"spec.x[].n","type":"object"},)"
                   R"({"path":"spec.x[].n.y","type":"integer","default":"1"})"),
            "spec.x[].n.y: default: "},
           {field(R"("type":"integer","min":9,"max":1)"),
            "min: found 9; allowed: at most 1, the max"},
           {field(R"("type":"string","minLength":3,"maxLength":2)"),
            "minLength: found 3; allowed: "},
           {field(R"("type":"array","minItems":3,"maxItems":2)"), "minItems: found 3; allowed: "},
           {field(R"("type":"string","minLength":-5)"),
            "minLength: found -5; allowed: a whole number, 0 or more"},
           {field(R"("type":"integer","max":"9")"), R"(max: found "9"; allowed: a whole number)"},
           {field(R"("type":"string","enum":[])"), "enum: found []; allowed: one text or more"},
           {field(R"("type":"string","enum":["a",1])"), R"(enum: found ["a",1]; allowed: )"},
       }) {
    const auto added = scheme.add(json, "bad");
    ASSERT_FALSE(added.ok()) << json;
    EXPECT_THAT(added.error().text, HasSubstr(error));
  }
  EXPECT_TRUE(scheme.add(field(R"("type":"integer","min":1,"max":1,"default":1)"), "good").ok());
  Scheme other;  // users fill in y
  EXPECT_TRUE(other
                  .add(fields(R"({"path":"spec.x","type":"object","default":{}},)"
                              R"({"path":"spec.x.y","type":"string","required":true})"),
                       "good")
                  .ok());
  auto queue = kueue("ClusterQueue", "{}");
  ASSERT_TRUE(scheme.admit(queue).ok());
  EXPECT_EQ(queue["spec"].at("x"), 1);
  EXPECT_TRUE(scheme.admit(queue).ok());
}

/// A kind `Zoo` with the plural `secrets` in the core group was served in place of Secrets.
TEST(Contribution, AKindIsNotCalledAsAnotherIs) {
  const auto kind = [](const std::string& group, const std::string& kind_name,
                       const std::string& plural, const std::string& rest = "") {
    return R"({"group":")" + group + R"(","kind":")" + kind_name + R"(","plural":")" + plural +
           R"(",)" + rest + R"("scope":"Namespaced","versions":[{"version":"v1","storage":true}]})";
  };
  Scheme scheme;
  ASSERT_TRUE(
      scheme
          .add(kind("a.com", "Zoo", "zoos", R"("shortNames":["zo"],"categories":["all"],)"), "zoo")
          .ok());
  const std::string label = "; allowed: a DNS label (at most 63 of a-z, 0-9 and -";
  for (const auto& [json, error] : std::vector<std::pair<std::string, std::string>>{
           {kind("", "Cage", "secrets"),
            R"(Cage: plural: "secrets" means kind Secret of the core group already)"},
           {kind("batch", "Machine", "jobs"),
            R"(Machine: plural: "jobs" means kind Job of group batch already)"},
           {kind("batch", "Machine", "job"), R"(plural: "job" means kind Job of group batch)"},
           {kind("batch", "JOB", "machines"), R"(JOB: kind: "job" means kind Job of group batch)"},
           {kind("b.com", "Machine", "po"), R"(plural: "po" means kind Pod of the core group)"},
           {kind("b.com", "Machine", "machines", R"("shortNames":["m","pods"],)"),
            R"(shortNames: "pods" means kind Pod of the core group)"},
           {kind("b.com", "Machine", "machines", R"("shortNames":["zo"],)"),
            R"("zo" means kind Zoo of group a.com already, contributed by zoo)"},
           {"[" + kind("b.com", "One", "things") + "," + kind("b.com", "Two", "things") + "]",
            R"(Two: plural: "things" means kind One of group b.com already)"},
           {kind("", "Machine", "pods/../x"), R"(plural: found "pods/../x")" + label},
           {kind("b.com", "Machine", "Machines"), R"(plural: found "Machines")" + label},
           {kind("b.com", "Machine", std::string(64, 'a')), label},
           {kind("b.com", "Machine", "machines", R"("shortNames":["m m"],)"),
            R"(shortNames: found "m m")" + label},
           {kind("b.com", "Machine", "machines", R"("categories":["a/b"],)"),
            R"(categories: found "a/b")" + label},
           {kind("b.com/../c", "Machine", "machines"),
            R"(group: found "b.com/../c"; allowed: a DNS)"},
           {kind("b.com", "Ma/chine", "machines"), R"(kind: found "Ma/chine"; allowed: )"},
           {R"({"group":"b.com","kind":"Machine","plural":"machines","scope":"Cluster",)"
            R"("versions":[{"version":"v1/x","storage":true}]})",
            R"(Machine.versions[0].version: found "v1/x")" + label},
       }) {
    const auto added = scheme.add(json, "bad");
    ASSERT_FALSE(added.ok()) << json;
    EXPECT_THAT(added.error().text, HasSubstr(error));
  }
  EXPECT_EQ(scheme.find("v1", "Cage"), nullptr);
  // Kinds of different groups may have the same plural, as those of Kubernetes do.
  EXPECT_TRUE(scheme.add(kind("b.com", "Job", "jobs", R"("shortNames":["bj"],)"), "jobs").ok());
}

/// A lone bracket was read for ever, and what the schema is built from calls itself once per part.
TEST(Contribution, APathIsOfNamesAndWhatIsInsideThem) {
  const auto of_queue = [](const std::string& version) {
    return R"({"kind":"ClusterQueue","group":"kueue.x-k8s.io","versions":[{"version":"v1beta2",)" +
           version + "}]}";
  };
  const auto field = [&](const std::string& path) {
    return of_queue(R"("fields":[{"path":")" + path + R"(","type":"string"}])");
  };
  const auto rule = [&](const std::string& rest) {
    return of_queue(R"("rules":[{"rule":"allowedIf","message":"m",)" + rest + "}]");
  };
  const auto of_kind = [](const std::string& rest) {
    return R"({"kind":"New","group":"g.com","plural":"news","scope":"Cluster","versions":[
      {"version":"v1","storage":true,"fields":[{"path":"spec","type":"object"}],)" +
           rest + "}]}";
  };
  std::string deep = "spec";
  for (int i = 0; i < 64; ++i) deep += ".a";  // 65 names
  const std::string fields = "ClusterQueue.versions[0].fields[0].path: found ";
  const std::string rules = "ClusterQueue.versions[0].rules[0].";
  Scheme scheme;
  for (const auto& [json, error] : std::vector<std::pair<std::string, std::string>>{
           {field("spec.podSets[0].tier"), fields + R"("spec.podSets[0].tier"; allowed: )"},
           {field("spec.x{"), fields + R"("spec.x{"; allowed: )"},
           {field("["), fields + R"("["; allowed: )"},
           {field("."), fields + R"("."; allowed: )"},
           {field("spec..x"), fields + R"("spec..x"; allowed: )"},
           {field("spec.x."), fields + R"("spec.x."; allowed: )"},
           {field("spec.x]y"), fields + R"("spec.x]y"; allowed: )"},
           {field("spec.[]"), fields + R"("spec.[]"; allowed: )"},
           {field("spec.a b"), fields + R"("spec.a b"; allowed: )"},
           {field(deep), "allowed: at most 64 names"},
           {field("spec.x" + std::string(200, '[') + std::string(200, ']')), "allowed: "},
           {rule(R"("at":"spec[")"), rules + R"(at: found "spec["; allowed: )"},
           {rule(R"("at":7)"), rules + "at: must be a text"},
           {rule(R"("at":"spec","field":"x[")"), rules + R"(field: found "x["; allowed: )"},
           {rule(R"("at":"spec","fields":["x","y[]"])"), rules + R"(fields[1]: found "y[]")"},
           {rule(R"("at":"spec","when":{"x{":["a"]})"), rules + R"(when: found "x{"; allowed: )"},
           {of_queue(R"("columns":[{"name":"A","path":".spec["}])"),
            R"(ClusterQueue.versions[0].columns[0].path: found ".spec[")"},
           {of_queue(R"("columns":[{"name":"A","path":"=podReady"}])"),
            R"(columns[0].path: found "=podReady")"},
           {of_kind(R"("scale":{"spec":"spec["})"),
            R"(scale.spec: found "spec["; allowed: a name)"},
           {of_kind(R"("scale":{"spec":"size","status":"s{"})"), R"(scale.status: found "s{")"},
           {of_kind(R"("moves":[["spec.a","spec{"]])"), R"(moves[0]: found "spec{"; allowed: )"},
           {of_kind(R"("status":true},{"version":"v0","basedOn":"v1","without":["spec["])"),
            R"(New.versions[1].without: found "spec["; allowed: )"},
           {R"({"kind":"ClusterQueue","group":"kueue.x-k8s.io","gives":["spec["]})",
            R"(gives: "spec[" is no path of a field)"},
       }) {
    const auto added = scheme.add(json, "bad");
    ASSERT_FALSE(added.ok()) << json;
    EXPECT_THAT(added.error().text, HasSubstr(error));
  }
  EXPECT_EQ(scheme.find("g.com/v1", "New"), nullptr);
  EXPECT_TRUE(scheme.add(field("spec.a-b_c.d[][].e{}"), "good").ok());
}

TEST(Contribution, AnObjectBelongsTogetherWithOneSetOfOthers) {
  Scheme scheme;
  const auto says = [&scheme](const char* label) {
    return scheme.add(
        std::string(R"({"kind": "Pod", "group": "", "versions": [], "together": )") + label + "}",
        "one");
  };
  EXPECT_THAT(says("7").error().text, HasSubstr("Pod: together: 7 is no name of an annotation"));
  EXPECT_THAT(says(R"("a b")").error().text, HasSubstr(R"("a b" is no name of an annotation)"));
  ASSERT_TRUE(says(R"("example.com/team")").ok());
  EXPECT_EQ(scheme.find("v1", "Pod")->together, "example.com/team");
  EXPECT_THAT(says(R"("example.com/other")").error().text,
              HasSubstr("belong together by example.com/team already"));
}

/// Whoever mends a schema is told of everything at once.
TEST(Contribution, AllMistakesAreToldAtOnce) {
  Scheme scheme;
  const auto added = scheme.add(R"([
    {"kind": "Budget", "group": "example.com", "plural": "budgets", "scope": "Cluster",
     "marks": ["nameless"], "versions": [{"version": "v1", "storage": true, "fields": [
       {"path": "spec", "type": "object"},
       {"path": "spec.limit", "type": "money"},
       {"path": "spec.unit", "type": "string", "format": "currency"},
       {"path": "spec.rest", "type": "string", "requierd": true}],
      "rules": [{"at": "spec.limit", "rule": "immutable", "message": "it stays"},
                {"at": "spec", "rule": "sometimes", "message": "?"},
                {"at": "spec.nowhere", "rule": "immutable", "message": "?"}]}]},
    {"kind": "Workload", "group": "kueue.x-k8s.io", "versions": [{"version": "v1beta2", "fields": [
       {"path": "spec.priority", "type": "integer"}]}]},
    {"kind": "Other", "group": "example.com"}, 7])",
                                "wrong");
  ASSERT_FALSE(added.ok());
  for (const char* mistake :
       {"Budget: marks: \"nameless\" is no name of the form DOMAIN/NAME",
        "Budget.versions[0].fields[3]: unknown key \"requierd\"",
        "Budget v1: spec: limit: type \"money\" is not known",
        "Budget v1: spec: unit: format \"currency\" is not known",
        "Budget v1: rule \"sometimes\" at spec is not known",
        "Budget v1: rule immutable: no field \"spec.nowhere\"",
        "Workload.versions[0].fields[0]: field \"spec.priority\" exists already",
        "Other: plural: required for a new kind", "must be a JSON object"})
    EXPECT_THAT(added.error().text, HasSubstr(mistake));
  EXPECT_THAT(added.error().text, ::testing::Not(HasSubstr("no field \"spec.limit\"")))
      << "what is wrong with a field is no second mistake of a rule about it";
  EXPECT_EQ(scheme.find("example.com/v1", "Budget"), nullptr);
}

}  // namespace
}  // namespace sluice::api
