// Objects of the built-in kinds for their tests, and what the shared scheme, which never changes,
// finds wrong with them.
#pragma once

#include "tests/api/objects.hpp"

namespace sluice::api::testing {

inline boost::json::object of(const std::string& api_version, const std::string& kind,
                              const std::string& members) {
  return object(R"({"apiVersion":")" + api_version + R"(","kind":")" + kind +
                R"(","metadata":{"name":"x"},)" + members + "}");
}

inline boost::json::object job(const std::string& spec, const std::string& pod = "") {
  return of("batch/v1", "Job",
            R"("spec":{)" + spec + (spec.empty() ? "" : ",") +
                R"("template":{"spec":{"restartPolicy":"Never",)" + pod + (pod.empty() ? "" : ",") +
                R"("containers":[{"name":"c","image":"busybox:1.36"}]}}})");
}

inline boost::json::object pod(const std::string& spec,
                               const std::string& container = R"("image":"busybox")") {
  return of("v1", "Pod",
            R"("spec":{)" + spec + (spec.empty() ? "" : ",") + R"("containers":[{"name":"c",)" +
                container + "}]}");
}

inline std::vector<std::string> problems(boost::json::object value,
                                         const boost::json::object* old = nullptr) {
  return lines(core_scheme().admit(value, old, {.unknown_fields = UnknownFields::kRefuse}).errors);
}

inline boost::json::object admitted(boost::json::object value) {
  const Outcome outcome = core_scheme().admit(value);
  EXPECT_TRUE(outcome.ok()) << outcome.error_text();
  return value;
}

}  // namespace sluice::api::testing
