// DoorAgreement: plays an input twice, by the short way of a simulation (encoded objects, statuses
// on demand) and as a host does it (trees that are judged as they come, a store with versions,
// every status written, Events), and holds log, error and the objects at the end against each
// other.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "host/simulate/run.hpp"

namespace sluice::host {

class DoorAgreement : public ::testing::Test {
 protected:
  struct Played {
    std::string log;      ///< or the error that ended it
    std::string objects;  ///< workloads and jobs at the end, a line each
    bool operator==(const Played&) const = default;
  };

  DoorAgreement()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("sluice-door-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~DoorAgreement() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  Played played(const std::vector<std::string>& paths, bool as_host) {
    SimulateOptions options;
    options.paths = paths;
    options.plugins = std::vector<std::string>();
    options.threads = 1;
    options.states = true;
    options.as_host = as_host;
    options.log = folder_ / "log";
    options.dump = folder_ / "dump.json";
    testing::internal::CaptureStdout();
    const auto done = run_simulation(options);
    testing::internal::GetCapturedStdout();
    if (!done) return {done.error().text, ""};
    return {read(options.log), objects_of(read(options.dump))};
  }

  /// The log of both ways.
  std::string log_of_both(const std::vector<std::string>& paths) {
    const Played simulated = played(paths, false);
    const Played host = played(paths, true);
    EXPECT_EQ(host.log, simulated.log) << paths.front();
    EXPECT_EQ(host.objects, simulated.objects) << paths.front();
    return simulated.log;
  }
  void expect_same(const std::vector<std::string>& paths) {
    const std::string log = log_of_both(paths);
    EXPECT_EQ(log.find("{\"t\":"), 0U) << log;
  }

  std::filesystem::path folder_;

 private:
  static std::string objects_of(const std::string& dump) {
    namespace json = boost::json;
    const json::value list = json::parse(dump);
    std::string out;
    for (const json::value& item : list.at("items").as_array()) {
      json::object object = item.as_object();
      if (object["kind"] != "Workload" && object["kind"] != "Job") continue;
      for (const char* field : {"resourceVersion", "generation"})  // of the store
        object["metadata"].as_object().erase(field);
      out += api::to_json(sorted(object)) + "\n";
    }
    return out;
  }
  /// Fields in order of their names.
  static boost::json::value sorted(const boost::json::value& value) {
    namespace json = boost::json;
    if (const auto* list = value.if_array()) {
      json::array out;
      for (const json::value& item : *list) out.push_back(sorted(item));
      return out;
    }
    const auto* object = value.if_object();
    if (!object) return value;
    std::map<std::string, json::value> fields;
    for (const auto& [name, field] : *object)
      if (name != "observedGeneration") fields.emplace(name, sorted(field));  // of the store, too
    json::object out;
    for (auto& [name, field] : fields) out.emplace(name, std::move(field));
    return out;
  }
};

/// The queue has 1 cpu: a (with a finalizer) runs, b waits.
class TwoDoors : public DoorAgreement {
 protected:
  std::string play(const std::string& events) {
    const std::filesystem::path file = folder_ / "timeline.yaml";
    std::ofstream(file) << "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n" << events;
    return log_of_both({SLUICE_SOURCE_DIR "/tests/host/simulate/one_cpu.yaml", file.string()});
  }
};

}  // namespace sluice::host
