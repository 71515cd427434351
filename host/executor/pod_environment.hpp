// PodEnvironment: the variables of one pod's containers, worked out from their `env` and `envFrom`.
//
// What a pod refers to is found once, and what all its containers are given is counted, values that
// a later one replaces too: a pod that names a big ConfigMap ten thousand times costs what one
// costs that names it a few times. Invariant: no more than kMostBytes are read, and no more given.
// One thread; `pod` and `sources` outlive it.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "host/executor/pod_plan.hpp"
#include "host/executor/pod_variables.hpp"

namespace sluice::host {

class PodEnvironment {
 public:
  static constexpr std::size_t kMostBytes = 8 * PodVariables::kMostBytes;

  PodEnvironment(const boost::json::object& pod, const PodSources& sources)
      : pod_(pod), sources_(sources) {}

  /// Errors: CreateContainerConfigError, what it names is missing or unknown; ArgumentsTooLong.
  Result<PodVariables, PodProblem> of(const boost::json::object& container);

 private:
  /// nullptr: there is none, or it is too much to read (then problem_ says so).
  const boost::json::object* find(std::string_view kind, const boost::json::object& reference);
  void give(PodVariables& out, std::string name, std::string value);
  void give_all(const boost::json::object& from, PodVariables& out);
  void give_one(const boost::json::object& entry, const boost::json::object& container,
                PodVariables& out);
  std::optional<std::string> resolve(const boost::json::object& from,
                                     const boost::json::object& container);
  std::optional<std::string> keyed(std::string_view kind, const boost::json::object& reference);
  std::optional<std::string> field(std::string_view path);

  const boost::json::object& pod_;
  const PodSources& sources_;
  std::map<std::pair<std::string, std::string>, std::optional<boost::json::object>>
      found_;  // by kind and key
  std::size_t read_bytes_ = 0;
  std::size_t given_bytes_ = 0;
  std::string_view container_;  // whose variables are worked out
  PodProblem problem_;          // the first one; nothing more is given then
};

/// The words and variables of `container` are more than PodVariables hold.
PodProblem too_long(std::string_view container);
/// Those of all containers of a pod are more than PodEnvironment gives.
PodProblem too_long_together();

}  // namespace sluice::host
