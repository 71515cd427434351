// What a plugin's process says is held to the protocol: a member of another type, or one that is
// not known, is never taken for one that is not there.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "host/plugins/process/forms.hpp"
#include "tests/host/plugins/process_support.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

class ProcessForms : public ProcessTest {
 protected:
  static PluginConfig peer_saying(const std::string& mode, const std::string& says) {
    PluginConfig out = peer(mode);
    out.process->environment.emplace_back("SAYS", says);
    return out;
  }
  static ObjectWrite job() {
    return {WriteOperation::kCreate, "batch/v1", "Job",
            R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"}})", ""};
  }
};

TEST_F(ProcessForms, AValidatorWhoseAnswerIsOfAnotherTypeRefusesTheWrite) {
  struct {
    const char* answer;
    const char* why;
  } const cases[] = {
      {R"({"errors":{"path":"a"}})", R"(errors: {"path":"a"}; it must be a list of objects)"},
      {R"({"errors":"no"})", R"(errors: "no"; it must be a list of objects)"},
      {R"({"errors":1})", "errors: 1; it must be a list of objects"},
      {R"({"errors":true})", "errors: true; it must be a list of objects"},
      {R"({"errors":null})", "errors: null; it must be a list of objects"},
      {R"({"errors":["no"]})", R"(errors: ["no"]; it must be a list of objects)"},
      {R"({"errors":[{"path":"a","detail":5}]})", "errors[0].detail: 5; it must be a text"},
      {R"({"errors":[{"path":"a","detail":"b","kind":"Wrong"}]})",
       R"(errors[0].kind: "Wrong"; it must be one of Invalid, Required, Forbidden, NotSupported, )"
       "Duplicate"},
      {R"({"failed":5})", "failed: 5; it must be a text"},
      {R"({"retry":"no"})", R"(retry: "no"; it must be true or false)"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.answer);
    const auto set =
        load({peer_saying("says", std::string(R"({"validator.validate":)") + each.answer + "}")});
    ASSERT_NE(set, nullptr);
    const auto errors = set->validators().validate(job());
    ASSERT_EQ(errors.size(), 1u);
    const std::string said =
        "plugin peer, validator.validate: its answer has " + std::string(each.why);
    EXPECT_NE(errors[0].text().find(said), std::string::npos) << errors[0].text();
    EXPECT_EQ(set->status()[0].last_fault, said);
    EXPECT_TRUE(eventually([&] { return logged("its process is gone: its answer has "); }));
  }
}

TEST_F(ProcessForms, AnswersToOtherHooksAreHeldToTheirTypes) {
  const auto set = load({peer_saying("says", R"({"check-controller.check_changed":{"active":"no"},)"
                                             R"("check-controller.begin":{"retry":1}})")});
  ASSERT_NE(set, nullptr);
  EXPECT_FALSE(set->check_controllers().check_changed("check", kCheckJson)->active);
  EXPECT_EQ(set->status()[0].last_fault,
            "plugin peer, check-controller.check_changed: its answer has active: \"no\"; it must "
            "be true or false");
  EXPECT_TRUE(wait_for_return(*set));
  EXPECT_FALSE(set->check_controllers().begin(query("a")));
}

TEST_F(ProcessForms, AMemberThatNobodyKnowsIsNotConsent) {
  const std::string may = "errors, answer, failed, refused, retry";
  const std::string may_inside = "kind, path, value, detail";
  struct {
    std::string answer, member, may;
  } const cases[] = {
      {R"({"error":[{"path":"a","detail":"b"}]})", "error", may},
      {R"({"errors":[],"warnings":["w"]})", "warnings", may},
      {R"({"Errors":null})", "Errors", may},
      {R"({"object":{}})", "object", may},  // of another hook
      {R"({"retry":true,"after":3})", "after", may},
      {R"({"errors":[{"path":"a","message":"b"}]})", "errors[0].message", may_inside},
      {R"({"errors":[{"path":"a","detail":"b"},{"path":"a","detail":"b","":0}]})", "errors[1].",
       may_inside},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.answer);
    const auto set = load({peer_saying("says", R"({"validator.validate":)" + each.answer + "}")});
    ASSERT_NE(set, nullptr);
    const auto errors = set->validators().validate(job());
    ASSERT_EQ(errors.size(), 1u);
    const std::string said = "plugin peer, validator.validate: its answer has " + each.member +
                             ", which this host does not know; there may be " + each.may;
    EXPECT_NE(errors[0].text().find(said), std::string::npos) << errors[0].text();
    EXPECT_EQ(set->status()[0].last_fault, said);
  }
}

TEST_F(ProcessForms, WithAFailureNothingElseOfAnAnswerIsRead) {
  const auto set = load({peer_saying(
      "says", R"({"validator.validate":{"failed":"out of paper","error":[],"errors":5}})")});
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->validators().validate(job()).size(), 1u);
  EXPECT_EQ(set->status()[0].last_fault,
            "plugin peer, validator.validate: it failed: out of paper");
}

TEST_F(ProcessForms, ItsHelloIsHeldToItsMembers) {
  EXPECT_EQ(load_error({peer("greets")}),
            "plugin peer: its hello has configschema, which this host does not know; there may be "
            "protocol, name, version, description, configSchema");
}

TEST_F(ProcessForms, WhatItProvidesIsHeldToItsTypes) {
  struct {
    const char* points;
    const char* why;
  } const cases[] = {
      {R"({"validator/1":{"kinds":"ConfigMap"}})",
       R"(its answer has points[validator/1].kinds: "ConfigMap"; it must be a list of texts)"},
      {R"({"validator/1":{"kinds":["ConfigMap",5]}})",
       R"(its answer has points[validator/1].kinds: ["ConfigMap",5]; it must be a list of texts)"},
      {R"({"validator/1":{}})",
       "its answer has no points[validator/1].kinds; it must be a list of texts"},
      {R"({"validator/1":{"kinds":["ConfigMap"],"setsDefaults":"yes"}})",
       R"(its answer has points[validator/1].setsDefaults: "yes"; it must be true or false)"},
      {R"({"check-controller/1":{"controllers":"example.com/peer"}})",
       R"(its answer has points[check-controller/1].controllers: "example.com/peer"; it must be )"
       "a list of texts"},
      {R"({"timers/1":true})",
       R"(its answer has points: {"timers/1":true}; it must be an object of objects)"},
      {R"(["timers/1"])",
       R"(its answer has points: ["timers/1"]; it must be an object of objects)"},
      {R"({"validator/1":{"kinds":["ConfigMap"],"setDefaults":true}})",
       "its answer has points[validator/1].setDefaults, which this host does not know; there may "
       "be kinds, setsDefaults"},
      {R"({"timers/1":{"numbers":[7]}})",
       "its answer has points[timers/1].numbers, which this host does not know; there may be "
       "nothing"},
      {R"({"queue-watch/2":{"numbers":[7]}})",
       "queue-watch/2 is not for a process of its own: this host has no such extension point; load "
       "it without `isolation`"},
  };
  for (const auto& each : cases)
    EXPECT_EQ(load_error({peer_saying(
                  "says", std::string(R"({"plugin.create":{"points":)") + each.points + "}}")}),
              std::string("plugin peer cannot be created: ") + each.why);
}

TEST_F(ProcessForms, ANoteOfAnotherFormEndsIt) {
  struct {
    const char* note;
    const char* why;
  } const cases[] = {
      {R"({"note":"report","state":"Retry","requeueAfterSeconds":754.3})",
       "report has requeueAfterSeconds: 754.3; it must be a whole number up to 2147483647"},
      {R"({"note":"timer","timer":1,"time":5})",  // without `at` it would be cancelled
       "timer has time, which this host does not know; there may be timer, at, note"},
  };
  for (const auto& each : cases) {
    const auto set = load({peer_saying("notes", each.note)});
    ASSERT_NE(set, nullptr);
    EXPECT_FALSE(set->check_controllers().begin(query("a")));
    EXPECT_EQ(set->status()[0].last_fault,
              std::string("plugin peer, check-controller.begin: its note ") + each.why);
  }
}

TEST_F(ProcessForms, ARequestOfAnotherFormIsRefused) {
  struct {
    const char* request;
    const char* why;
  } const cases[] = {
      {R"({"request":1,"service":"state.set","key":"a","value":5})",
       "its request state.set has value: 5; it must be a text"},
      {R"({"request":1,"service":"objects.list","selectors":"a=b"})",  // without one it means all
       "its request objects.list has selectors, which this host does not know; there may be "
       "apiVersion, kind, namespace, selector, request, service"},
  };
  for (const auto& each : cases) {
    const auto set = load({peer_saying("asks", each.request)});
    ASSERT_NE(set, nullptr);
    EXPECT_TRUE(set->check_controllers().begin(query("a")));
    const auto reports = set->check_controllers().take_reports();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].message,
              R"({"code": "Invalid", "error": ")" + std::string(each.why) + R"(", "reply": 1})");
  }
}

TEST_F(ProcessForms, AValidatorsKindsThatTheHostDoesNotHaveAreKnown) {
  const auto set = load({peer_saying(
      "says", R"({"plugin.create":{"points":{"validator/1":{"kinds":["v1/ConfigMap","ConfigMap",)"
              R"("Workload","batch/Jobs","batch/Job","example.com/Thing resource:v1/things",)"
              R"("example.com/Other"]}}}})")});
  ASSERT_NE(set, nullptr);
  std::string unknown;
  for (const auto& judge : set->validators().never_asked(api::Scheme()))
    unknown += judge.plugin + " " + judge.kind.group_kind + "\n";
  EXPECT_EQ(unknown, "peer v1/ConfigMap\npeer Workload\npeer batch/Jobs\npeer example.com/Other\n");
}

/// Whatever the SDK says is what the host knows: no refusal is one of its form.
TEST_F(ProcessForms, TheSdkSaysNothingThatTheHostDoesNotKnow) {
  PluginConfig config = peer("");
  config.process->command.back() = SLUICE_SOURCE "/tests/host/plugins/fixtures/asks_all.py";
  const auto set = load({config});
  ASSERT_NE(set, nullptr);
  CheckControllers& checks = set->check_controllers();
  EXPECT_TRUE(checks.check_changed("check", kCheckJson)->active);
  EXPECT_EQ(checks.explain(query("a")).lines, std::vector<std::string>{"it is asked"});
  EXPECT_EQ(set->validators()
                .validate({WriteOperation::kCreate, "v1", "ConfigMap",
                           R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})", ""})
                .size(),
            1u);
  ASSERT_TRUE(checks.begin(query("a"))) << set->status()[0].last_fault;
  const auto reports = checks.take_reports();
  ASSERT_EQ(reports.size(), 4u);
  const json::value said = json::parse(reports[3].message);
  EXPECT_EQ(said.as_array().size(), 11u);
  for (const json::value& each : said.as_array())  // what it may do here, and with what, is another
    EXPECT_EQ(std::string(each.as_string()).find("its request"), std::string::npos) << each;
  EXPECT_EQ(set->status()[0].faults, 0u) << set->status()[0].last_fault;
}

// ---- the table and the schema that ships

using Types = std::map<std::string, std::string>;  // by member

std::string type_word(const MemberForm& member) {
  switch (member.type) {
    case MemberType::kText:
    case MemberType::kWord:
      return "string";
    case MemberType::kNumber:
      return "integer";
    case MemberType::kYesNo:
      return "boolean";
    case MemberType::kObject:
    case MemberType::kPoints:
      return "object";
    case MemberType::kTexts:
      return "array of string";
    case MemberType::kObjects:
      return "array of object";
    case MemberType::kAny:
      break;
  }
  return "any";
}

/// What the schema says of the members. There are no others.
Types types_in(const json::value& definition) {
  const json::value* others = definition.as_object().if_contains("additionalProperties");
  EXPECT_TRUE(others != nullptr && *others == false) << definition;
  Types out;
  for (const auto& [key, value] : definition.at("properties").as_object()) {
    const json::object none;
    const json::object& says = value.is_object() ? value.get_object() : none;
    std::string type = says.contains("enum") ? "string" : "any";
    if (const json::value* named = says.if_contains("type")) type = named->as_string().c_str();
    if (const json::value* items = says.if_contains("items"))
      type += std::string(" of ") + items->at("type").as_string().c_str();
    out[std::string(key)] = type;
  }
  return out;
}

/// What the table says of all of these.
template <typename Belongs>
Types types_of(Belongs belongs) {
  Types out;
  for (const MemberForm& member : member_forms())
    if (belongs(std::string(member.of))) out[std::string(member.name)] = type_word(member);
  return out;
}

TEST(ProcessFormsTable, SaysWhatTheSchemaOfTheProtocolSays) {
  std::ifstream file(SLUICE_SOURCE "/sdk/protocol/sluice-plugin.schema.json");
  std::stringstream text;
  text << file.rdbuf();
  const json::value schema = json::parse(text.str());
  const json::value& defs = schema.at("$defs");
  const auto is = [](std::string name) { return [name](const auto& of) { return of == name; }; };
  EXPECT_EQ(types_of(is("hello")), types_in(defs.at_pointer("/hello/properties/hello")));
  EXPECT_EQ(types_of(is("field error")),
            types_in(defs.at_pointer("/answer/properties/errors/items")));
  EXPECT_EQ(types_of([](const std::string& of) {
              return of == "answer" || of == "plugin.create" || of == "controller.reconcile" ||
                     of.starts_with("check-controller.") || of.starts_with("validator.");
            }),
            types_in(defs.at("answer")));
  EXPECT_EQ(types_of([](const std::string& of) {
              return of == "request" || of.starts_with("objects.") || of.starts_with("state.");
            }),
            types_in(defs.at("request")));
  EXPECT_EQ(types_of([](const std::string& of) {
              return of == "note" || of == "log" || of == "report" || of == "timer" ||
                     of == "event" || of == "requeue" || of == "metric";
            }),
            types_in(defs.at("note")));
  const json::value& points = defs.at_pointer("/answer/properties/points/properties");
  for (const auto& [id, point] : points.as_object())
    EXPECT_EQ(types_of(is(std::string(id))), types_in(point)) << id;
}

}  // namespace
}  // namespace sluice::host
