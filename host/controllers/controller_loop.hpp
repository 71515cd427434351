// ControllerLoop: runs the controllers by the kernel's rule: before the first cycle of an instant
// and between cycles, in a fixed order, until none has work (mechanisms 1).
//
// It gets every change, keeps the ObjectIndex in step, collects the keys that controllers name, and
// keeps their timers. A key whose reconcile failed is tried again after 1 s, 2 s, 4 s … up to a
// minute; that it fails meanwhile, too, because a change named it, is neither told nor counted.
// Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/base/due_times.hpp"
#include "host/kernel/kernel.hpp"
#include "host/kernel/object_index.hpp"
#include "host/objects/controller.hpp"
#include "host/plugins/clock.hpp"

namespace sluice::host {

class ControllerLoop final : public KernelListener {
 public:
  /// Both must outlive the loop.
  ControllerLoop(ObjectAccess& objects, ObjectIndex& index) : objects_(objects), index_(index) {}

  /// Controllers run in the order in which they were added; each must outlive the loop.
  void add(Controller& controller);
  /// A key whose reconcile failed is tried again when it is named again, not after a while: for a
  /// simulation, whose clock would never rest.
  void retry_on_change_only() { retries_ = false; }
  /// What is loaded was brought to rest by another host; see Controller::resumed(). Before that.
  void resume() { resumes_ = true; }
  /// run() returns after about so many keys of each controller, or so much time, so that the writes
  /// of others wait no longer, also when all objects are looked at after a start, or large ones.
  /// The next run goes on with the next controller. `clock` must outlive the loop.
  void limit_run(std::size_t keys, Duration time, const PluginClock& clock) {
    most_ = keys;
    longest_ = time;
    clock_ = &clock;
  }

  /// The kinds that controllers watch, as group/Kind.
  std::set<std::string> watched() const;
  /// The selector of labels that all who watch the kind look through; empty: it takes all objects.
  std::string selector(const std::string& kind) const;

  /// Asked at the start of each run for work that comes from elsewhere; whether there was any.
  void add_source(std::function<bool()> source) { sources_.push_back(std::move(source)); }

  void begin_instant(Time now) override;
  void changed(const ObjectChange& change) override;
  void loaded(const ObjectChange& change, bool apart) override;
  bool wants_loaded(const api::KindInfo& kind) override;
  bool follows(const StoredObject& workload) override;
  bool run() override;
  bool has_work() const override;
  bool has_first_looks() const override;
  Time next_timer() const override;

  /// Reconciles since the start, for metrics.
  std::uint64_t reconciles() const { return reconciles_; }

 private:
  struct Entry {
    Controller* controller = nullptr;
    std::set<std::string> kinds;       // group/Kind
    std::deque<const WorkKey*> queue;  // into `queued`
    std::unordered_set<WorkKey, WorkKeyHash> queued;
    DueTimes<WorkKey> timers;
    std::map<WorkKey, int> failures;
    std::size_t first_looks = 0;  // at the front of the queue: what was loaded
  };
  const std::vector<Entry*>& watchers_of(const api::KindInfo& kind);
  void name(Entry& entry, WorkKey key);
  void set_timer(Entry& entry, const WorkKey& key, Time at);
  bool run_one(Entry& entry);
  bool is_late(Duration since) const { return clock_ && clock_->steady() - since >= longest_; }

  ObjectAccess& objects_;
  ObjectIndex& index_;
  std::size_t most_ = static_cast<std::size_t>(-1);
  Duration longest_ = 0;
  const PluginClock* clock_ = nullptr;  // null: no limit of time
  std::size_t first_ = 0;               // of entries_, in the next run
  std::deque<Entry> entries_;
  std::unordered_map<const api::KindInfo*, std::vector<Entry*>> by_kind_;
  std::vector<std::function<bool()>> sources_;
  std::vector<WorkKey> named_;  // reused
  std::uint64_t reconciles_ = 0;
  bool retries_ = true;
  bool resumes_ = false;
};

}  // namespace sluice::host
