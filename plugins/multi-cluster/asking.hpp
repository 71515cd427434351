// Asking: which cluster each workload of a check is sent to, by asking all of them what they would
// do with it: question by question, each about a few workloads.
//
// What was placed by one question is to be there before the next one is asked, so that its answers
// count it. Pure: the owner asks, and tells what was answered. A question that is lost is over when
// the patience is.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "forecast.hpp"

namespace clusters {

class Asking {
 public:
  static constexpr std::size_t kPerQuestion = 64;
  static constexpr std::int64_t kPatienceMs = 20'000;

  /// The workload, NAMESPACE/NAME, is to be placed; the same again changes nothing.
  void want(const std::string& workload);
  /// Nothing is to be done for it any more.
  void forget(const std::string& workload);
  /// Where it is to be sent; nullptr: nothing is known yet.
  const std::vector<std::string>* place_of(const std::string& workload) const;
  /// It has arrived there, or was refused.
  void arrived(const std::string& workload) { leaving_.erase(workload); }

  struct Question {
    std::vector<std::string> workloads;
    bool estimate = false;
  };
  /// The next one, for all of `clusters`; about nobody when it is not time for one.
  Question next(const std::vector<std::string>& clusters, std::int64_t now_ms);
  void hear(Outlook outlook);
  /// Whom the question under way has placed, once it is over.
  std::vector<std::string> conclude(std::int64_t now_ms);
  /// When the patience is over; 0: nothing is waited for.
  std::int64_t again_ms(std::int64_t now_ms) const;

 private:
  bool is_over(std::int64_t now_ms) const;
  void no_longer_wanted(const std::string& workload);

  std::map<std::uint64_t, std::string> wanted_;   // in the order in which they came
  std::map<std::string, std::uint64_t> turn_of_;  // of those, their place in that order
  std::uint64_t next_turn_ = 0;
  std::map<std::string, std::vector<std::string>> placed_;
  std::set<std::string> leaving_;  // placed by the last question, not arrived
  Question question_;
  std::vector<Outlook> outlooks_;  // one per cluster that was asked, in order
  std::set<std::string> waiting_;  // clusters that have not answered
  bool estimate_next_ = false;
  std::int64_t since_ms_ = 0;  // when it was asked, or was over
};

}  // namespace clusters
