// FakeChecks: a plugin `fake` that answers for the controller `example.com/fake`, and notes what it
// was told. It can be slow: every call then asks for a pause. The plugin `quick`, which answers for
// `example.com/quick`, never is.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/plugins/check_controllers.hpp"

namespace sluice::host::test {

class FakeChecks final : public CheckControllers {
 public:
  bool loaded = true;
  bool faulty = false;  ///< it cannot begin
  int tries = 0;        ///< how often it was to begin
  bool gone = false;    ///< its process is
  bool answers_late = false;
  std::vector<LateAnswer> late;
  bool restarted = false;  ///< its process was, since it was asked for that
  bool in_quarantine = false;
  Duration rest = 0;          ///< the pause after each call
  const Time* now = nullptr;  ///< needed when there is a pause
  CheckActivity activity{true, "Active", "The check is active"};
  std::vector<std::string> told;  ///< `begin NAME CHECK ATTEMPT`, `cancel … WHY`, `check NAME`
  std::vector<CheckReport> reports;

  bool provides(std::string_view controller) const override {
    return !plugin_of(controller).empty();
  }
  std::string plugin_of(std::string_view controller) const override {
    if (!loaded) return "";
    return controller == "example.com/fake"    ? "fake"
           : controller == "example.com/quick" ? "quick"
                                               : "";
  }
  bool quarantined(std::string_view) const override { return in_quarantine; }
  Duration pause(std::string_view controller) const override {
    if (gone) return kSecond / 10;
    return controller == "example.com/fake" && now ? std::max<Duration>(0, free_at_ - *now) : 0;
  }
  bool away(std::string_view) const override { return gone; }
  bool owes_answer(std::string_view) const override { return answers_late; }
  std::vector<LateAnswer> take_late() override { return std::exchange(late, {}); }
  std::vector<std::string> take_restarted() override {
    if (!std::exchange(restarted, false)) return {};
    return {"example.com/fake"};
  }
  std::optional<CheckActivity> check_changed(const std::string& check,
                                             std::string_view json) override {
    called();
    told.push_back((json.empty() ? "gone " : "check ") + check);
    return activity;
  }
  bool begin(const CheckQuery& query) override {
    ++tries;
    if (faulty) return false;
    if (query.check != "quick") called();
    told.push_back("begin " + line(query));
    last = query;
    return true;
  }
  void cancel(const CheckQuery& query, std::string_view why) override {
    if (query.check != "quick") called();
    told.push_back("cancel " + line(query) + " " + std::string(why));
  }
  std::string troubled;
  std::string trouble(std::string_view, std::string_view) const override { return troubled; }
  bool more_soon = false;
  CheckTelling explain(const CheckQuery& query) override {
    return {{"asked for " + line(query)}, more_soon};
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
  void called() {
    if (now) free_at_ = *now + rest;
  }
  static std::string line(const CheckQuery& query) {
    return query.workload->meta.name + " " + query.check + " " + std::to_string(query.attempt);
  }

  Time free_at_ = 0;
};

}  // namespace sluice::host::test
