// What the command's answer means for the status of a request.
#include "../status.hpp"

#include <gtest/gtest.h>

namespace provisioning {
namespace {

using sluice::Json;
using End = CommandResult::End;

const Command kCommand{{"prog"}, {}, 5};
constexpr std::int64_t kNow = 1'767'225'600'000'000'000;  // 2026-01-01

StatusChange change(const CommandResult& result, const std::string& before = "{}") {
  return status_of(Json::parse(R"({"status":)" + before + "}"), kCommand, result, kNow);
}
std::string failure(const CommandResult& result) {
  const StatusChange out = change(result);
  EXPECT_EQ(out.status.string_or("conditions.0.type", ""), "Failed");
  EXPECT_EQ(out.status.string_or("conditions.0.status", ""), "True");
  return out.status.string_or("conditions.0.message", "");
}

TEST(CommandStatus, Provisioned) {
  const StatusChange out =
      change({End::kExited, 0, R"({"provisioned":true,"message":"up","details":{"pool":"p"}})", ""},
             R"({"conditions":[{"type":"Accepted","status":"True","reason":"R","message":"m",
                 "lastTransitionTime":"2025-01-01T00:00:00Z"}]})");
  EXPECT_EQ(out.status.dump(),
            R"({"conditions":[{"type":"Accepted","status":"True","reason":"CommandAccepted",)"
            R"("message":"The command took the request on",)"
            R"("lastTransitionTime":"2025-01-01T00:00:00Z"},)"
            R"({"type":"Provisioned","status":"True","reason":"CommandDone","message":"up",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z"}],)"
            R"("provisioningClassDetails":{"pool":"p"}})");
  EXPECT_EQ(out.again_in_seconds, 0);
  const StatusChange silent = change({End::kExited, 0, "\n", ""});
  EXPECT_EQ(silent.status.string_or("conditions.1.status", ""), "True");
}

TEST(CommandStatus, NotYet) {
  const StatusChange out =
      change({End::kExited, 0, R"({"provisioned":false,"message":"5 min"})", ""});
  EXPECT_EQ(out.status.string_or("conditions.1.status", ""), "False");
  EXPECT_EQ(out.status.string_or("conditions.1.message", ""), "5 min");
  EXPECT_EQ(out.again_in_seconds, 30);
  EXPECT_EQ(change({End::kExited, 0, R"({"provisioned":false,"retry_after_seconds":5})", ""})
                .again_in_seconds,
            5);
  EXPECT_EQ(change({End::kExited, 0, R"({"provisioned":false,"retry_after_seconds":-5})", ""})
                .again_in_seconds,
            1);
}

TEST(CommandStatus, Failures) {
  EXPECT_EQ(failure({End::kExited, 3, "", "first\nno quota\n"}),
            "the command ended with code 3: no quota");
  EXPECT_EQ(failure({End::kSignalled, 9, "", ""}), "the command was ended by signal 9");
  EXPECT_EQ(failure({End::kTimedOut, 0, "", ""}),
            "the command took longer than 5 seconds and was stopped");
  EXPECT_EQ(failure({End::kNotStarted, 2, "", ""}),
            "the command prog cannot be started: No such file or directory");
  EXPECT_EQ(failure({End::kExited, 0, "yes", ""}).substr(0, 32),
            "the command's output is no JSON:");
  EXPECT_EQ(failure({End::kExited, 0, R"({"provisioned":"yes"})", ""}),
            "the command's output has no \"provisioned\": true or false");
}

}  // namespace
}  // namespace provisioning
