// Small objects for the tests of this folder, and their outcome as lines of text.
// The scheme of core_scheme() is shared and never changed.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"

namespace sluice::api::testing {

/// REQUIRES: `text` is a JSON object, comments allowed.
inline boost::json::object object(const std::string& text) {
  return boost::json::parse(text).as_object();
}

inline const Scheme& core_scheme() {
  static const Scheme scheme;
  return scheme;
}

inline std::vector<std::string> lines(const std::vector<Problem>& problems) {
  std::vector<std::string> out;
  for (const auto& each : problems) out.push_back(each.text());
  return out;
}

inline boost::json::object kueue(const std::string& kind, const std::string& spec,
                                 const std::string& version = "v1beta2") {
  const std::string ns = kind == "Workload" || kind == "LocalQueue" ? R"(,"namespace":"ns")" : "";
  return object(R"({"apiVersion":"kueue.x-k8s.io/)" + version + R"(","kind":")" + kind +
                R"(","metadata":{"name":"x")" + ns + R"(},"spec":)" + spec + "}");
}

/// One pod set `main` of one container with the given members, in a Workload spec.
inline std::string pod_sets(const std::string& members = R"("count":1)",
                            const std::string& container = "") {
  return R"("podSets":[{"name":"main",)" + members +
         R"(,"template":{"spec":{"containers":[{"name":"c")" + container + "}]}}}]";
}

/// A condition of a status that is true.
inline std::string condition(const std::string& type) {
  return R"({"type":")" + type + R"(","status":"True","reason":"R","message":"",
             "lastTransitionTime":"2026-01-01T00:00:00Z"})";
}

/// The JSON of `actual` equals that of `expected`, whatever the order of keys.
inline ::testing::AssertionResult equal(const boost::json::object& actual,
                                        const std::string& expected) {
  if (actual == object(expected)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << boost::json::serialize(actual);
}

}  // namespace sluice::api::testing
