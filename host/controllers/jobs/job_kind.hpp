// JobKind: what the job controller has to know about a kind of job: a thin adapter between its
// fields and pod sets. Everything else about jobs is the same for all kinds.
//
// Adapters are stateless; objects are in hub form, and what is malformed reads as absent. The
// controller uses them on the kernel's thread, other functions may be called from any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"

namespace sluice::host {

struct JobPodSet {
  std::string name;
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;  ///< partial admission: it starts with this many at least
};

struct JobEnd {
  bool succeeded = false;
  std::string message;
};

struct FinishedPods {
  std::string pod_set;
  std::int32_t count = 0;
};

class JobKind {
 public:
  virtual ~JobKind() = default;

  /// `batch/Job`
  virtual std::string_view group_kind() const = 0;

  /// The pod sets that it wants, in order.
  virtual std::vector<JobPodSet> pod_sets(const boost::json::object& job) const = 0;
  /// The PodTemplateSpec of pod set number `i`; nullptr when it has none.
  virtual boost::json::object* pod_template(boost::json::object& job, std::size_t i) const = 0;
  /// Lets the pod set start with fewer pods. Answers the fields of spec that it replaced, as they
  /// were.
  virtual boost::json::object set_count(boost::json::object& job, std::size_t i,
                                        std::int32_t count) const = 0;

  /// Some pods have not ended yet.
  virtual bool active(const boost::json::object& job) const = 0;
  /// All pods of all pod sets are ready, or ended well; of more than `granted` so many.
  virtual bool pods_ready(const boost::json::object& job, std::int64_t granted) const = 0;
  /// Pods of a running job that ended and will not be replaced.
  virtual std::vector<FinishedPods> finished_pods(const boost::json::object& job) const = 0;
  /// nullopt while it goes on.
  virtual std::optional<JobEnd> end(const boost::json::object& job) const = 0;

  /// What an object of the kind must say so that it can be managed; empty: all is well.
  virtual std::string unfit(const boost::json::object& job) const = 0;
};

/// All kinds of jobs that this host manages.
std::span<const JobKind* const> job_kinds();
/// nullptr when there is no such kind of job. `group_kind` as above.
const JobKind* find_job_kind(std::string_view group_kind);
const JobKind* find_job_kind(const api::KindInfo& kind);

/// Both kinds say it in the same place.
bool is_suspended(const boost::json::object& job);
void set_suspended(boost::json::object& job, bool suspended);

}  // namespace sluice::host
