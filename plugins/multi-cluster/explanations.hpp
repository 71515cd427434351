// Explanations: why copies of workloads wait, as the clusters explain it themselves.
//
// A cluster is asked when somebody here asks, and answers in a later turn: until then there is what
// it said before, for a while. Of as many copies as one may look at it is kept what was said last;
// the oldest goes first. A cluster that explains nothing, because Kueue decides there, is left
// alone for a while. Used inside hooks, on their thread.
#pragma once

#include <sluice/plugin.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace clusters {

inline constexpr std::string_view kExplanationKind = "Explanation";

class Explanations {
 public:
  static constexpr std::size_t kMost = 1'000;
  // In milliseconds.
  static constexpr std::int64_t kFresh = 1'000;     ///< what was said is not asked for again
  static constexpr std::int64_t kHolds = 30'000;    ///< it is told while a new answer is awaited
  static constexpr std::int64_t kPatience = 5'000;  ///< then it is asked for again
  static constexpr std::int64_t kSilent = 60'000;   ///< of a cluster that explains nothing

  explicit Explanations(const sluice::Context& context) : context_(context) {}

  struct Known {
    std::vector<std::string> lines;
    bool awaited = false;  ///< a better answer is on its way
  };
  /// What the cluster says of the copy of this namespace and name. Asks it where that is due.
  Known of(const std::string& cluster, const std::string& ns, const std::string& name);
  void hear(const sluice::ObjectRef& answer);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // cluster, namespace, name
  struct Kept {
    std::vector<std::string> lines;
    std::int64_t asked_ms = 0, told_ms = 0;
    bool awaited = false;
  };
  std::int64_t now_ms() const;
  void make_room();

  sluice::Context context_;
  std::map<Key, Kept> kept_;
  std::map<std::string, std::int64_t> silent_until_ms_;  // by cluster
};

}  // namespace clusters
