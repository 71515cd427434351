// TestedPlugin: one instance of a plugin on a FakeHost, and every question that a host asks.
//
// The plugin is the one that is linked into the test (its sluice_plugin_entry), or another's root
// struct. A question answers in plain values. A fault of the plugin, a call that does not answer
// OK, is an exception of type Fault with the hook's name and the plugin's reason; a configuration
// that it refuses is one of type Refused. One thread, but for the plugin's own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/cpp/checks.hpp"
#include "sluice/cpp/context.hpp"
#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/questions.hpp"
#include "sluice/ext/check_controller.h"
#include "sluice/ext/controller.h"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"
#include "sluice/testing/capacity.hpp"
#include "sluice/testing/host.hpp"
#include "sluice/testing/job.hpp"
#include "sluice/testing/workload.hpp"

namespace sluice::testing {

/// A call of a hook that failed.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Skip {
  std::string flavor, reason;
  bool operator==(const Skip&) const = default;
};

struct VetoGiven {
  std::optional<std::string> may_not_preempt;    ///< the reason
  std::vector<std::uint64_t> protects;           ///< numbers of candidates
  std::map<std::uint64_t, std::string> because;  ///< why, where it says so
};

/// What a workload does not say itself when its traits are asked for.
struct TraitsAsked {
  std::string cluster_queue;
  bool holds_quota = false;
  bool counts_may_change = false;  ///< another plugin says so
};

struct TraitsGiven {
  struct Group {
    std::string id, order_as, called;
    std::int32_t rank = 0;
    bool represents = false;  ///< it is a way to run `order_as`
  };
  struct Replaces {
    std::string workload, reason, message;
    Ends how = Ends::kFinished;
    bool only_better = false;
  };
  std::optional<std::string> takes_no_part;  ///< because of
  std::optional<Group> group;
  std::optional<Replaces> replaces;
  std::optional<std::string> follows, shape_key, inactive_because;
  bool may_lower_counts = false;
  bool ends_later = false;
};

/// The key of a LocalQueue or workload; 0 where the plugin says nothing.
struct OrderGiven {
  std::int64_t key = 0;
  std::string because;
};

struct FieldError {
  std::int32_t kind = SLUICE_FIELD_INVALID;
  std::string path, value, detail;
};

/// An object that is written; old is empty when it is created.
struct FakeWrite {
  Operation operation = Operation::kCreate;
  std::string api_version, kind, object, old;
  std::string user = {};  ///< who writes
};

/// Whether a check can be carried out.
struct ActivityGiven {
  bool active = true;
  std::string reason, message;
};

/// One attempt at a check.
struct FakeAttempt {
  std::string check = "check";
  std::string check_json = "{}";  ///< the AdmissionCheck
  std::uint64_t attempt = 1;
  std::int32_t retry_count = 0;
};

class TestedPlugin {
 public:
  /// Creates and activates it. Throws Refused, or Fault when it failed.
  explicit TestedPlugin(FakeHost& host, std::string_view config = "{}")
      : TestedPlugin(host, *sluice_plugin_entry(SLUICE_ABI_MAJOR, SLUICE_ABI_MINOR), config) {}
  TestedPlugin(FakeHost& host, const sluice_plugin_t& root, std::string_view config = "{}");
  /// Deactivates and destroys it.
  ~TestedPlugin();
  TestedPlugin(const TestedPlugin&) = delete;
  TestedPlugin& operator=(const TestedPlugin&) = delete;

  bool provides(std::string_view id) const { return root_.extension(self_, to_abi(id)) != nullptr; }
  FakeHost& host() { return host_; }

  // ---- time

  /// Moves the clock and fires what is due on the way, in order of time and number.
  void advance(std::chrono::nanoseconds by) { advance_to(host_.now() + by.count()); }
  void advance_to(std::int64_t time);

  // ---- questions

  std::vector<Skip> filter(const FakeWorkload& workload, const std::vector<std::string>& flavors,
                           std::uint32_t pod_set = 0, std::uint32_t queue = 0);
  /// The same with all that a plugin can know of flavors and queue.
  std::vector<Skip> filter(const FakeWorkload& workload, const std::vector<FakeFlavor>& flavors,
                           const FakeClusterQueue& cluster_queue, std::uint32_t pod_set = 0,
                           std::uint32_t queue = 0);
  std::string filter_shape_key(const FakeWorkload& workload);
  Search after_flavor(const SearchStep& step);
  bool better(std::uint32_t queue, Outcome a, Outcome b);
  bool keep_position(const PositionAge& age);
  VetoGiven veto(const FakeWorkload& preemptor, const std::vector<const FakeWorkload*>& candidates,
                 std::uint32_t queue = 0, const FakeClusterQueue& cluster_queue = {});
  TraitsGiven traits(const FakeWorkload& workload, const TraitsAsked& asked = {});
  OrderGiven order_local_queue(std::string_view local_queue, std::string_view cluster_queue,
                               std::uint32_t queue = 0);
  OrderGiven order_workload(const FakeWorkload& workload);
  Told notify(Event event, const FakeWorkload& workload, std::string_view reason = {},
              const std::vector<std::string>& others = {});
  void queue_changed(std::uint32_t id, std::string_view name, std::string_view json);
  std::string schema();
  std::vector<std::string> kinds();
  std::optional<std::string> set_defaults(const FakeWrite& write);
  std::vector<FieldError> validate(const FakeWrite& write);
  JobAnswer plan(const FakeJob& job);
  std::vector<std::string> pod_gates(const FakeJob& job);
  /// By number of the pod set; one that is not named has no limit.
  std::map<std::uint64_t, std::int32_t> pod_grants(const FakeJob& job);
  std::vector<std::string> check_controllers();
  /// An empty JSON: the check is gone.
  ActivityGiven check_changed(std::string_view name, std::string_view json);
  void begin_check(const FakeWorkload& workload, const FakeAttempt& attempt = {});
  void cancel_check(const FakeWorkload& workload, const FakeAttempt& attempt = {},
                    std::string_view why = "it was evicted");
  CheckWords explain_check(const FakeWorkload& workload, const FakeAttempt& attempt = {});
  std::vector<std::string> watched_kinds();
  Again reconcile(const ObjectRef& what);

 protected:
  template <typename Table>
  const Table& table(const char* id) const {
    const void* found = root_.extension(self_, to_abi(id));
    if (found == nullptr) throw Fault(std::string("the plugin does not provide ") + id);
    return *static_cast<const Table*>(found);
  }
  /// The code, when it is one of those that are no fault.
  static std::int32_t check(const char* hook, std::int32_t code, bool may_retry = false) {
    const std::string why = FakeHost::take_fault();
    if (code == SLUICE_OK || (may_retry && code == SLUICE_RETRY)) return code;
    throw Fault(std::string(hook) + " answered " + std::to_string(code) +
                (why.empty() ? "" : ": " + why));
  }
  /// The same, for calls in which objects may be used.
  template <typename Fn>
  std::int32_t check_call(const char* hook, Fn fn, bool may_retry = false) {
    FakeHost::Call call(host_);
    const std::int32_t code = check(hook, fn(), may_retry);
    if (code == SLUICE_OK) call.keep();
    return code;
  }
  sluice_instance_t* self() const { return self_; }

 private:
  void start(std::int32_t code, const std::string& error, const char* what) const;

  FakeHost& host_;
  const sluice_plugin_t& root_;
  sluice_instance_t* self_ = nullptr;
  std::string config_;
  std::uint64_t sequence_ = 0;
};

/// The sentence with which the plugin refuses a configuration; empty when it takes it.
inline std::string refusal(FakeHost& host, std::string_view config) {
  try {
    TestedPlugin plugin(host, config);
    return {};
  } catch (const Refused& e) {
    return e.what();
  }
}

}  // namespace sluice::testing

#include "sluice/testing/plugin_impl.hpp"
