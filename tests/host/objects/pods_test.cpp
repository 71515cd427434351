// What pods say of how they ended.
#include "host/objects/pods.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <vector>

namespace sluice::host {
namespace {

TEST(LastFailure, IsThatOfTheContainerThatFailedLast) {
  struct Case {
    const char* what;
    std::vector<const char*> pods;
    const char* expected;
  };
  const char* const runs = R"({"metadata":{"name":"r"},"status":{"containerStatuses":[
      {"state":{"running":{}}}]}})";
  const char* const good = R"({"metadata":{"name":"g"},"status":{"containerStatuses":[
      {"state":{"terminated":{"exitCode":0,"finishedAt":"2026-01-01T00:00:09Z"}}}]}})";
  const char* const early = R"({"metadata":{"name":"e"},"status":{"containerStatuses":[
      {"state":{"terminated":{"exitCode":3,"finishedAt":"2026-01-01T00:00:01Z"}}}]}})";
  const char* const late = R"({"metadata":{"name":"l"},"status":{"containerStatuses":[
      {"state":{"terminated":{"exitCode":127,"finishedAt":"2026-01-01T00:00:02Z",
       "message":"cannot run it"}}}]}})";
  const char* const init = R"({"metadata":{"name":"i"},"status":{"initContainerStatuses":[
      {"state":{"terminated":{"exitCode":4}}}]}})";
  const std::vector<Case> cases = {
      {"none", {}, ""},
      {"none failed", {runs, good}, ""},
      {"one", {good, early, runs}, "pod e ended with exit status 3"},
      {"the last", {late, early}, "pod l ended with exit status 127: cannot run it"},
      {"an init container", {init}, "pod i ended with exit status 4"},
  };
  for (const Case& each : cases) {
    LastFailure failure;
    for (const char* pod : each.pods) failure.look_at(boost::json::parse(pod).get_object());
    EXPECT_EQ(failure.text(), each.expected) << each.what;
  }
}

}  // namespace
}  // namespace sluice::host
