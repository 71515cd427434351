// What a plugin gives back in place of an object (finding A2): it may change neither whose object
// it is nor its status, and is judged like any write. The plugin `says` gives back what the object
// itself asks for, so a test can try any answer.
#include <boost/json.hpp>
#include <random>

#include "api/json/json.hpp"
#include "host/kernel/plugin_runtime.hpp"
#include "host/objects/intake.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class Defaults : public PluginTest {
 protected:
  void start(FailurePolicy policy = FailurePolicy::kClosed) {
    auto loaded =
        PluginRuntime::load(SLUICE_TEST_PLUGINS, {plugin("says", R"({"where":"answer"})", policy)},
                            clock, scheme, [](int, std::string_view, std::string_view) {});
    ASSERT_TRUE(loaded.ok()) << loaded.error().text;
    runtime = std::move(*loaded);
  }

  static json::object asking_for(const std::string& answer) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", "mine"}, {"namespace", "team-a"}, {"uid", "u"}}},
            {"data", {{"answer", answer}}}};
  }

  /// The write's end: `object` as it is stored, or the problem.
  std::string write(json::object& object, const std::string& kind = "ConfigMap") {
    Intake intake(scheme, runtime.get());
    const api::KindInfo& info = *scheme.find_by_name(kind);
    auto problems = intake.validate(info, object, nullptr, {});
    if (problems.empty() && intake.asks_plugins(info))
      problems = intake.ask_plugins(info, object, nullptr, {});
    return problems.empty() ? "" : problems.front().text();
  }
  std::string answer(const std::string& text) {
    json::object object = asking_for(text);
    return write(object);
  }

  api::Scheme scheme;
  std::unique_ptr<PluginRuntime> runtime;
};

TEST_F(Defaults, WhoWroteWhatIsNeitherShownNorChanged) {
  start();
  const json::array written = {{{"manager", "kubectl"}, {"operation", "Update"}}};
  const auto asking = [&](const std::string& managers) {
    json::object object = asking_for(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{
        "name":"mine","namespace":"team-a","uid":"u")" +
                                     managers + R"(},"data":{}})");
    object["metadata"].as_object()["managedFields"] = written;
    return object;
  };
  json::object object = asking("");
  EXPECT_EQ(write(object), "");
  EXPECT_EQ(object.at("data"), json::object()) << "the plugin's answer counts";
  EXPECT_EQ(object.at("metadata").at("managedFields"), written);
  object = asking(R"(,"managedFields":[{"manager":"says"}])");
  EXPECT_THAT(write(object), HasSubstr("it changes metadata.managedFields, which is not its"));
}

TEST_F(Defaults, MarksThatAreNotThePluginsStayAsTheyWere) {
  start();
  json::object object = asking_for(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine","namespace":"team-a",
          "uid":"u","annotations":{"sluice.dev/created-by":"root","says.sluice.dev/y":"1",
          "sluice.dev/claimed-by":"nobody","a.b/x":"1"}},"data":{}})");
  EXPECT_EQ(write(object), "");
  const json::object kept{{"says.sluice.dev/y", "1"}, {"a.b/x", "1"}};
  EXPECT_EQ(object.at("metadata").at("annotations"), json::value(kept));
}

TEST_F(Defaults, A2_AnAnswerKeepsTheIdentityOfTheObject) {
  limits.quarantine_faults = 1000;
  start();
  const struct {
    const char* answer;
    const char* changes;
  } lies[] = {
      {R"({"data":{}})", "apiVersion"},
      {R"({"apiVersion":"v1","kind":"Secret",
           "metadata":{"name":"mine","namespace":"team-a","uid":"u"}})",
       "kind"},
      {R"({"apiVersion":"v1","kind":"ConfigMap",
           "metadata":{"name":"other","namespace":"team-a","uid":"u"}})",
       "metadata.name"},
      {R"({"apiVersion":"v1","kind":"ConfigMap",
           "metadata":{"name":"mine","namespace":"kube-system","uid":"u"}})",
       "metadata.namespace"},
  };
  for (const auto& lie : lies)
    EXPECT_THAT(answer(lie.answer),
                HasSubstr(std::string("plugin says, validator.set_defaults: its answer makes no "
                                      "sense: it changes ") +
                          lie.changes));
}

TEST_F(Defaults, A2_AnAnswerIsJudgedByTheSchema) {
  start();
  const std::string head =
      R"({"apiVersion":"v1","kind":"ConfigMap",
          "metadata":{"name":"mine","namespace":"team-a","uid":"u"},)";
  EXPECT_THAT(answer(head + R"("data":{"a":7}})"),
              HasSubstr("with what plugin says adds to it: data[a]: Invalid value: 7"));
  EXPECT_EQ(answer(head + R"("nothing":1})"),
            "with what plugin says adds to it: unknown field \"nothing\"");
  EXPECT_EQ(answer(head + R"("data":{"a":"b"}})"), "");
}

TEST_F(Defaults, A2_AnOpenPluginThatLiesIsAsIfItSaidNothing) {
  start(FailurePolicy::kOpen);
  json::object object = asking_for(R"({"data":{}})");
  EXPECT_EQ(write(object), "");
  EXPECT_EQ(object, asking_for(R"({"data":{}})"));
}

TEST_F(Defaults, MayChangeContentLabelsAndAnnotations) {
  start();
  json::object wanted = asking_for("x");
  wanted["data"] = {{"filled", "in"}};
  wanted["metadata"].as_object()["labels"] = {{"l", "1"}};
  wanted["metadata"].as_object()["annotations"] = {{"a", "2"}};
  json::object object = asking_for(json::serialize(wanted));
  EXPECT_EQ(write(object), "");
  EXPECT_EQ(object, wanted);
}

/// A random value, shallow.
json::value random_value(std::mt19937& random) {
  switch (random() % 7) {
    case 0:
      return nullptr;
    case 1:
      return static_cast<std::int64_t>(random() % 10);
    case 2:
      return json::array{1, "a"};
    case 3:
      return json::object{{"name", "other"}, {"uid", "v"}};
    case 4:
      return true;
    default:
      return json::string(std::string(random() % 5, 'x'));
  }
}

/// Changes, adds or takes out something, anywhere within `value`.
void mutate(json::value& value, std::mt19937& random) {
  if (auto* object = value.if_object(); object && !object->empty() && random() % 4 != 0) {
    const auto at = object->begin() + static_cast<std::ptrdiff_t>(random() % object->size());
    if (random() % 6 == 0) {
      object->erase(std::string(at->key()));
    } else if (random() % 6 == 0) {
      constexpr const char* kKeys[] = {"status", "ownerReferences",   "finalizers", "namespace",
                                       "labels", "deletionTimestamp", "immutable",  "data"};
      (*object)[kKeys[random() % std::size(kKeys)]] = random_value(random);
    } else {
      mutate(at->value(), random);
    }
    return;
  }
  value = random_value(random);
}

TEST_F(Defaults, A2_RandomAnswersNeverChangeWhoseObjectItIs) {
  start();
  std::mt19937 random(13);
  int taken = 0;
  for (int round = 0; round < 2000; ++round) {
    json::value wanted = asking_for("x");
    for (std::uint_fast32_t n = 1 + random() % 3; n > 0; --n) mutate(wanted, random);
    json::object object = asking_for(json::serialize(wanted));
    const json::object before = object;
    const std::string refused = write(object);
    runtime->plugins().reset_quarantine("says");
    if (!refused.empty()) {
      EXPECT_THAT(refused, AnyOf(HasSubstr("plugin says, validator.set_defaults: "),
                                 HasSubstr("with what plugin says adds to it: ")));
      continue;
    }
    ++taken;
    json::object metadata = object.at("metadata").as_object();
    metadata.erase("labels");
    metadata.erase("annotations");
    EXPECT_EQ(metadata, before.at("metadata"));
    EXPECT_EQ(object.at("kind"), "ConfigMap");
    EXPECT_FALSE(object.contains("status"));
    // What is stored pleases the schema: a plugin that says nothing lets the same pass again.
    json::object again = object;
    EXPECT_TRUE(Intake(scheme, nullptr)
                    .validate(*scheme.find_by_name("ConfigMap"), again, nullptr, {})
                    .empty());
  }
  EXPECT_GT(taken, 50) << "the test tries what is allowed, too";
}

}  // namespace
}  // namespace sluice::host
