// CheckLines: what a plugin is to be told waits here until it may be called again, in order, one
// line for the controller that the plugin answers for; nobody else waits for it.
//
// Invariant: a key stands in a line once. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/objects/controller.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

class CheckLines {
 public:
  /// `plugins` must outlive it. A line needs a timer: its key has the sort `timer_sort`.
  CheckLines(const CheckControllers& plugins, std::uint32_t timer_sort)
      : plugins_(plugins), timer_sort_(timer_sort) {}

  /// Whether the plugin may not be called now; the key is in its line then.
  bool has_to_wait(const std::string& controller, WorkKey key);
  /// Takes out those that are to be looked at now, some at a time, and names what needs a timer.
  void serve(std::vector<WorkKey>& keys);
  /// When the timer of a line is due; kNever without a line.
  Time due(const std::string& controller, Time now) const;
  /// In their order.
  std::vector<WorkKey> waiting_for(const std::string& controller) const;

 private:
  struct Line {
    std::deque<WorkKey> order;
    std::unordered_set<WorkKey, WorkKeyHash> keys;  // those in `order`
    bool has_timer = false;
  };
  void serve(const std::string& controller, Line& line, std::vector<WorkKey>& keys);

  const CheckControllers& plugins_;
  std::uint32_t timer_sort_;
  std::map<std::string, Line> lines_;  // by controller; none is empty after serve()
};

}  // namespace sluice::host
