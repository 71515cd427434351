// Label and field selectors: what each form selects, and how wrong ones are refused.
#include "host/rest/selectors.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json_text.hpp"

namespace sluice::host {
namespace {

const api::KindInfo& kind(const std::string& group, const std::string& name,
                          const std::string& plural) {
  static std::map<std::string, api::KindInfo> kinds;
  api::KindInfo& info = kinds[group + "/" + name];
  info.group = group;
  info.kind = name;
  info.plural = plural;
  info.namespaced = name != "Namespace";
  info.versions = {{"v1", true, false, {}}};
  return info;
}

StoredObject stored(const api::KindInfo& info, const std::string& text) {
  TextPool pool;
  const auto value = boost::json::parse(text);
  return to_stored(info, value.get_object(), pool);
}

StoredObject labelled(const std::string& labels) {
  return stored(kind("batch", "Job", "jobs"),
                R"({"metadata":{"name":"j","namespace":"n","labels":)" + labels + "}}");
}

bool selects(const std::string& query, const std::string& labels) {
  const auto parsed = LabelQuery::parse(query);
  EXPECT_TRUE(parsed.ok()) << query << ": " << parsed.error().text;
  return parsed.ok() && parsed->matches(labelled(labels));
}

TEST(LabelQuery, SelectsByEachOperator) {
  struct Case {
    std::string query, labels;
    bool selected;
  };
  for (const Case& each : std::vector<Case>{
           {"", "{}", true},
           {"a=b", R"({"a":"b"})", true},
           {"a==b", R"({"a":"b"})", true},
           {"a=b", R"({"a":"c"})", false},
           {"a=b", "{}", false},
           {"a=", R"({"a":""})", true},
           {"a=,b=c", R"({"a":"","b":"c"})", true},
           {"a!=b", R"({"a":"b"})", false},
           {"a!=b", R"({"a":"c"})", true},
           {"a != b", "{}", true},
           {"a in (x, y)", R"({"a":"y"})", true},
           {"a in (x,y),!foo", R"({"a":"x"})", true},
           {"a in (x,y),!foo", R"({"a":"x","foo":""})", false},
           {"a in (x,)", R"({"a":""})", true},
           {"a notin (x,y)", R"({"a":"z"})", true},
           {"a notin (x,y)", "{}", true},
           {"a notin (x,y)", R"({"a":"x"})", false},
           {"in in (in)", R"({"in":"in"})", true},
           {"example.com/a", R"({"example.com/a":"1"})", true},
           {"a,b", R"({"a":"1"})", false},
           {"a>3", R"({"a":"4"})", true},
           {"a>3", R"({"a":"3"})", false},
           {"a<3", R"({"a":"2"})", true},
           {"a<3", R"({"a":"few"})", false},
           // Several of one key, and in another order than the labels.
           {"z=1,a,a!=x,a in (b,c),!q,m notin (n)", R"({"a":"b","m":"o","z":"1"})", true},
           {"z=1,a,a!=b,a in (b,c),!q,m notin (n)", R"({"a":"b","m":"o","z":"1"})", false},
           {"z=1,a,a!=x,a in (b,c),!q,m notin (n)", R"({"z":"1","q":"","a":"b"})", false},
           {"z=1,a,a!=x,a in (b,c),q,m notin (n)", R"({"a":"b","z":"1"})", false},
       }) {
    EXPECT_EQ(selects(each.query, each.labels), each.selected) << each.query << " " << each.labels;
  }
}

TEST(LabelQuery, RefusesWhatIsNoSelector) {
  for (const std::string query : {"a=b=c", "a in x", "a in ()", "a in (x", ",a", "a,", "!", "!a=b",
                                  "a b", "a>x", "-a", "a=-b", "x/y/z=1", "a!b", "a in (x y)"}) {
    const auto parsed = LabelQuery::parse(query);
    ASSERT_FALSE(parsed.ok()) << query;
    EXPECT_EQ(parsed.error().code, 400);
    EXPECT_EQ(parsed.error().text.find("unable to parse requirement: "), 0u) << query;
  }
}

TEST(LabelQuery, LimitsTheNumberOfRequirements) {
  std::string query = "a";
  for (int i = 0; i < 2000; ++i) query += ",a";
  EXPECT_FALSE(LabelQuery::parse(query).ok());
}

TEST(FieldQuery, NameAndNamespaceComeFromTheKey) {
  const auto& info = kind("batch", "Job", "jobs");
  const auto query = FieldQuery::parse("metadata.name=j,metadata.namespace==n", info, "v1");
  ASSERT_TRUE(query.ok());
  StoredObject object;
  object.kind = &info;
  object.key = "n/j";
  EXPECT_TRUE(query->matches(object));
  object.key = "n/jj";
  EXPECT_FALSE(query->matches(object));
  ASSERT_NE(query->exact_name(), nullptr);
  EXPECT_EQ(*query->exact_name(), "j");
  EXPECT_EQ(*query->exact_namespace(), "n");
  EXPECT_EQ(FieldQuery::parse("metadata.name!=j", info, "v1")->exact_name(), nullptr);
}

TEST(FieldQuery, FieldsOfEachKind) {
  struct Case {
    std::string group, kind, plural, object, query;
    bool selected;
  };
  const std::string event =
      R"({"metadata":{"name":"e","namespace":"n"},"involvedObject":{"name":"w","kind":"Workload"},)"
      R"("source":{"component":"sluice"},"type":"Normal","reason":"Admitted"})";
  const std::string pod =
      R"({"metadata":{"name":"p","namespace":"n"},"spec":{"nodeName":"node-1"},)"
      R"("status":{"phase":"Running"}})";
  const std::string job = R"({"metadata":{"name":"j","namespace":"n"},"status":{"succeeded":2}})";
  for (const Case& each : std::vector<Case>{
           {"", "Event", "events", event, "involvedObject.name=w,involvedObject.namespace=", true},
           {"", "Event", "events", event, "involvedObject.kind=Job", false},
           {"", "Event", "events", event, "source=sluice,type!=Warning,reason=Admitted", true},
           {"", "Event", "events", event, "involvedObject.uid=1", false},
           {"", "Pod", "pods", pod, "spec.nodeName=node-1,status.phase!=Failed", true},
           {"", "Pod", "pods", pod, "spec.hostNetwork=false", true},
           {"batch", "Job", "jobs", job, "status.successful=2", true},
           {"batch", "Job", "jobs", R"({"metadata":{"name":"j","namespace":"n"}})",
            "status.successful=0", true},
           {"", "Namespace", "namespaces", R"({"metadata":{"name":"n"}})", "name=n", true},
           {"", "Namespace", "namespaces", R"({"metadata":{"name":"n"}})",
            "metadata.namespace=", true},
       }) {
    const auto& info = kind(each.group, each.kind, each.plural);
    const auto query = FieldQuery::parse(each.query, info, "v1");
    ASSERT_TRUE(query.ok()) << query.error().text;
    EXPECT_EQ(query->matches(stored(info, each.object)), each.selected) << each.query;
  }
}

TEST(FieldQuery, WorkloadsByClusterQueueInTheNewVersionOnly) {
  const auto& info = kind("kueue.x-k8s.io", "Workload", "workloads");
  const auto query = FieldQuery::parse("status.admission.clusterQueue=cq", info, "v1beta2");
  ASSERT_TRUE(query.ok());
  EXPECT_TRUE(query->matches(stored(info, R"({"metadata":{"name":"w","namespace":"n"},)"
                                          R"("status":{"admission":{"clusterQueue":"cq"}}})")));
  EXPECT_FALSE(query->matches(stored(info, R"({"metadata":{"name":"w","namespace":"n"}})")));
  EXPECT_FALSE(FieldQuery::parse("status.admission.clusterQueue=cq", info, "v1beta1").ok());
  EXPECT_EQ(selectable_fields(info, "v1beta2"),
            std::vector<std::string>{"status.admission.clusterQueue"});
}

TEST(FieldQuery, RefusesUnknownLabelsAndMalformedTerms) {
  const auto& info = kind("batch", "Job", "jobs");
  EXPECT_EQ(FieldQuery::parse("spec.parallelism=1", info, "v1").error().text,
            "field label not supported: spec.parallelism");
  for (const std::string query : {"metadata.name", "=x", "!=x", "metadata.name=a=b",
                                  "metadata.name=a\\", "metadata.name=a\\b"}) {
    const auto parsed = FieldQuery::parse(query, info, "v1");
    ASSERT_FALSE(parsed.ok()) << query;
    EXPECT_EQ(parsed.error().code, 400);
  }
}

TEST(FieldQuery, EscapedValues) {
  const auto& info = kind("", "Event", "events");
  const auto query = FieldQuery::parse(R"(reason=a\,b\=c\\d)", info, "v1");
  ASSERT_TRUE(query.ok());
  EXPECT_TRUE(query->matches(
      stored(info, R"({"metadata":{"name":"e","namespace":"n"},"reason":"a,b=c\\d"})")));
}

TEST(JsonText, FindsMembersWithoutParsing) {
  const std::string text =
      R"({"a":{"b\"}":[1,{"c":"]"}]},"d":"x\"y,","e":-1.5e3,"f":true,"g":null,"h":{}})";
  std::string scratch;
  EXPECT_EQ(api::member_text(text, "a"), R"({"b\"}":[1,{"c":"]"}]})");
  EXPECT_EQ(api::member_at(text, "a.b\"}"), R"([1,{"c":"]"}])");
  EXPECT_EQ(api::scalar_text(api::member_text(text, "d"), scratch), "x\"y,");
  EXPECT_EQ(api::scalar_text(api::member_text(text, "e"), scratch), "-1.5e3");
  EXPECT_EQ(api::scalar_text(api::member_text(text, "f"), scratch), "true");
  EXPECT_EQ(api::scalar_text(api::member_text(text, "g"), scratch), "");
  EXPECT_EQ(api::member_text(text, "h"), "{}");
  EXPECT_EQ(api::member_text(text, "i"), "");
  EXPECT_EQ(api::member_at(text, "h.i"), "");
  EXPECT_EQ(api::member_text("{}", "i"), "");
  EXPECT_EQ(api::member_text("", "i"), "");
}

}  // namespace
}  // namespace sluice::host
