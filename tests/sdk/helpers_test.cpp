// Helpers of the C++ layer: times, amounts, digests, conditions and owners of objects.
#include <gtest/gtest.h>

#include <sluice/plugin.hpp>

namespace sluice {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Helpers, TimesOfRfc3339) {
  struct Case {
    const char* text;
    std::optional<std::int64_t> time;
  };
  const Case cases[] = {
      {"1970-01-01T00:00:01Z", kSecond},
      {"1969-12-31T23:59:59Z", -kSecond},
      {"1970-01-01T02:00:00+02:00", 0},
      {"1969-12-31T19:30:00.5-04:30", kSecond / 2},
      {"1970-01-01T00:00:00.123456789999Z", 123'456'789},
      {"1970-01-01t00:00:00z", 0},
      {"2000-02-29T00:00:00Z", 951'782'400 * kSecond},
      {"2026-02-29T00:00:00Z", std::nullopt},
      {"2026-01-01", std::nullopt},
      {"2026-01-01T00:00:00", std::nullopt},
      {"2026-01-01T24:00:00Z", std::nullopt},
      {"2026-01-01T00:00:00.Z", std::nullopt},
      {"2026-01-01T00:00:00Z ", std::nullopt},
      {"9999-01-01T00:00:00Z", std::nullopt},
      {"tomorrow", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [text, time] : cases) EXPECT_EQ(parse_time(text), time) << text;
  EXPECT_EQ(time_text(*parse_time("2026-02-28T23:59:59Z")), "2026-02-28T23:59:59Z");
}

TEST(Helpers, AmountsOfKubernetes) {
  struct Case {
    const char* text;
    std::optional<std::int64_t> units, milli;
  };
  const Case cases[] = {
      {"2", 2, 2000},
      {"500m", 1, 500},  // what is finer rounds up
      {"1.5", 2, 1500},
      {".5", 1, 500},
      {"-1500m", -2, -1500},
      {"1n", 1, 1},
      {"1k", 1000, 1'000'000},
      {"1Ki", 1024, 1'024'000},
      {"2Gi", 2'147'483'648, 2'147'483'648'000},
      {"1e3", 1000, 1'000'000},
      {"25e-1", 3, 2500},
      {"7Ei", 8'070'450'532'247'928'832, std::nullopt},
      {"8Ei", std::nullopt, std::nullopt},
      {"", std::nullopt, std::nullopt},
      {"m", std::nullopt, std::nullopt},
      {"1ki", std::nullopt, std::nullopt},
      {"1K", std::nullopt, std::nullopt},
      {"1 Gi", std::nullopt, std::nullopt},
      {"1.2.3", std::nullopt, std::nullopt},
  };
  for (const auto& [text, units, milli] : cases) {
    EXPECT_EQ(quantity_units(text), units) << text;
    EXPECT_EQ(quantity_milli(text), milli) << text;
  }
  EXPECT_EQ(quantity_of("cpu", "250m"), 250);
  EXPECT_EQ(quantity_of("memory", "1Ki"), 1024);
  EXPECT_EQ(quantity_text("cpu", 1500), "1500m");
  EXPECT_EQ(quantity_text("cpu", 2000), "2");
  EXPECT_EQ(quantity_text("memory", 1024), "1024");
}

TEST(Helpers, AConditionIsWrittenWhenItSaysSomethingNew) {
  Json object = Json::object();
  EXPECT_TRUE(set_condition(object, "Ready", "False", "Starting", "a", 1 * kSecond));
  EXPECT_FALSE(set_condition(object, "Ready", "False", "Starting", "a", 2 * kSecond));
  EXPECT_FALSE(condition_is_true(object, "Ready"));
  EXPECT_TRUE(set_condition(object, "Ready", "False", "Starting", "b", 3 * kSecond));
  EXPECT_EQ(find_condition(object, "Ready")->string_or("lastTransitionTime", ""),
            "1970-01-01T00:00:01Z")
      << "the status is the same";
  EXPECT_TRUE(set_condition(object, "Other", "True", "R", "", 4 * kSecond));
  EXPECT_TRUE(set_condition(object, "Ready", "True", "Started", "", 5 * kSecond));
  EXPECT_EQ(find_condition(object, "Ready")->string_or("lastTransitionTime", ""),
            "1970-01-01T00:00:05Z");
  EXPECT_TRUE(condition_is_true(object, "Ready"));
  EXPECT_EQ(object.find("status.conditions")->size(), 2u);
  EXPECT_EQ(find_condition(object, "None"), nullptr);
}

TEST(Helpers, AConditionSaysOfWhichGenerationItIs) {
  Json object = Json::object();
  EXPECT_TRUE(set_condition(object, "Active", "True", "R", "m", 1 * kSecond, 7));
  EXPECT_EQ(object.find("status.conditions")->dump(),
            R"([{"type":"Active","status":"True","reason":"R","message":"m",)"
            R"("observedGeneration":7,"lastTransitionTime":"1970-01-01T00:00:01Z"}])");
  EXPECT_FALSE(set_condition(object, "Active", "True", "R", "m", 2 * kSecond, 8))
      << "it says nothing new";
  EXPECT_TRUE(set_condition(object, "Active", "True", "R", "n", 3 * kSecond, 9));
  EXPECT_EQ(object.find("status.conditions")->dump(),
            R"([{"type":"Active","status":"True","reason":"R","message":"n",)"
            R"("observedGeneration":9,"lastTransitionTime":"1970-01-01T00:00:01Z"}])");
}

TEST(Helpers, AnAnswerIsReportedUnlessTheWorkloadShowsIt) {
  const Json workload = Json::parse(R"({"status":{"admissionChecks":[
    {"name":"budget","state":"Ready","message":"paid"},{"name":"licence","message":"in line"},
    {"name":"quiet","state":"Pending"}]}})");
  struct Case {
    const char* check;
    CheckAnswer answer;
    bool shown;
  };
  const Case cases[] = {
      {"budget", CheckAnswer::ready("paid"), true},
      {"budget", CheckAnswer::ready("paid twice"), false},
      {"budget", CheckAnswer::ready(""), true},  // it leaves the message
      {"budget", CheckAnswer::retry("paid"), false},
      {"licence", CheckAnswer::pending("in line"), true},  // nothing said is Pending
      {"licence", CheckAnswer::pending("next"), false},
      {"quiet", CheckAnswer::pending("in line"), false},
      {"another", CheckAnswer::pending(""), true},
      {"another", CheckAnswer::pending("in line"), false},
      {"another", CheckAnswer::ready(""), false},
  };
  for (const auto& [check, answer, shown] : cases)
    EXPECT_EQ(shows_answer(workload, check, answer), shown)
        << check << " " << answer.state_name() << " " << answer.message;
  ASSERT_NE(find_check_state(workload, "licence"), nullptr);
  EXPECT_EQ(find_check_state(workload, "licence")->string_or("message", ""), "in line");
  EXPECT_EQ(find_check_state(workload, "another"), nullptr);
  EXPECT_EQ(find_check_state(Json::object(), "budget"), nullptr);
}

TEST(Helpers, OwnersAreFoundAndAddedOnce) {
  const Json job = Json::parse(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","uid":"u"}})");
  Json pod = Json::object();
  EXPECT_EQ(controller_of(pod), nullptr);
  EXPECT_TRUE(set_owner(pod, job));
  EXPECT_FALSE(set_owner(pod, job));
  EXPECT_EQ(pod.find("metadata.ownerReferences")->dump(),
            R"([{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"u",)"
            R"("controller":true,"blockOwnerDeletion":true}])");
  ASSERT_NE(controller_of(pod), nullptr);
  EXPECT_EQ(controller_of(pod)->string_or("name", ""), "train");
}

TEST(Helpers, LabelsAndAnnotationsAreTexts) {
  const Json object =
      Json::parse(R"({"metadata":{"labels":{"a.b/c":"1","n":7},"annotations":{"a.b/c":"2"}}})");
  EXPECT_EQ(label_of(object, "a.b/c"), "1");
  EXPECT_EQ(annotation_of(object, "a.b/c"), "2");
  EXPECT_EQ(label_of(object, "n"), "") << "no text";
  EXPECT_EQ(annotation_of(object, "n"), "");
  EXPECT_EQ(label_of(Json::parse(R"({"metadata":{"labels":[]}})"), "n"), "");
  EXPECT_EQ(label_of(Json::object(), "n"), "");
}

// Of FIPS 180, and of texts around the end of a block (64 bytes, 8 of them for the length).
TEST(Helpers, DigestsAreThoseOfTheStandard) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1_hex(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  EXPECT_EQ(sha1_hex(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
  EXPECT_EQ(sha1_hex(std::string(1000000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

}  // namespace
}  // namespace sluice
