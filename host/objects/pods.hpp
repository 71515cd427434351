// What a Pod says of itself, for whoever counts what runs: who has processes, which nobody else's
// may take the place of. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace sluice::host {

/// By its status, well or not.
bool has_ended(const boost::json::object& status);
/// Whether a process may still run for it: it has a node, and has not ended.
bool runs_somewhere(const boost::json::object& pod);

/// How the container ended that failed last, of all pods that were looked at.
class LastFailure {
 public:
  void look_at(const boost::json::object& pod);
  /// `pod NAME ended with exit status 3: what was said of it`; empty: none failed.
  const std::string& text() const { return text_; }

 private:
  std::string at_, text_;
};

}  // namespace sluice::host
