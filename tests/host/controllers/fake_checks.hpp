// FakeChecks: a plugin `fake` that answers for the controller `example.com/fake`, and notes what it
// was told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/plugins/check_controllers.hpp"

namespace sluice::host::test {

class FakeChecks final : public CheckControllers {
 public:
  bool loaded = true;
  bool faulty = false;
  CheckActivity activity{true, "Active", "The check is active"};
  std::vector<std::string> told;  ///< `begin NAME CHECK ATTEMPT`, `cancel … WHY`, `check NAME`
  std::vector<CheckReport> reports;

  bool provides(std::string_view controller) const override {
    return !plugin_of(controller).empty();
  }
  std::string plugin_of(std::string_view controller) const override {
    return loaded && controller == "example.com/fake" ? "fake" : "";
  }
  CheckActivity check_changed(const std::string& check, std::string_view json) override {
    told.push_back((json.empty() ? "gone " : "check ") + check);
    return activity;
  }
  bool begin(const CheckQuery& query) override {
    if (faulty) return false;
    told.push_back("begin " + line(query));
    last = query;
    return true;
  }
  void cancel(const CheckQuery& query, std::string_view why) override {
    told.push_back("cancel " + line(query) + " " + std::string(why));
  }
  std::vector<CheckReport> take_reports() override { return std::exchange(reports, {}); }
  std::vector<std::string> take() { return std::exchange(told, {}); }

  /// Says something of the attempt that began last.
  CheckReport report(const std::string& state) const {
    CheckReport out;
    out.plugin = "fake";
    out.ns = last.workload->meta.ns;
    out.name = last.workload->meta.name;
    out.uid = last.workload->meta.uid;
    out.check = last.check;
    out.attempt = last.attempt;
    out.state = state;
    return out;
  }

  CheckQuery last;

 private:
  static std::string line(const CheckQuery& query) {
    return query.workload->meta.name + " " + query.check + " " + std::to_string(query.attempt);
  }
};

}  // namespace sluice::host::test
