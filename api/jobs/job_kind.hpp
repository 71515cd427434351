// JobKind: how objects of one kind of job are read and written: which pods an object wants, whether
// it is held back, how far its pods are, whether it ended. Everything else about jobs is the same
// for all kinds. There is no other way from an object to its pod sets: the built-in kinds go
// through it as those that a page declares (job_page.hpp).
//
// All are pure functions of the object's tree, which is in hub form; what is malformed reads as
// absent, unless unfit() reports it. Without state of their own: any thread.
#pragma once

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"

namespace sluice::api {

struct JobPodSet {
  std::string name;
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;   ///< partial admission: it starts with this many at least
  std::optional<std::int32_t> total = {};  ///< so many have to succeed, `count` at a time

  std::int32_t to_succeed() const { return std::max(count, total.value_or(count)); }
};

struct JobEnd {
  bool succeeded = false;
  std::string message;
};

struct FinishedPods {
  std::string pod_set;
  std::int32_t count = 0;
};

/// Where a start puts what an admission wants of a pod set.
struct StartPlace {
  boost::json::object& spec;      ///< holds nodeSelector and tolerations
  boost::json::object& metadata;  ///< holds labels and annotations; may be the same object
};

/// How far the pods of a job are, in short.
enum class JobStage : std::uint8_t {
  kStopped,  ///< none is left
  kStarted,  ///< they are being made, or run
  kReady,    ///< all run and are ready, or ended well
  kSucceeded,
  kFailed,
};

/// The pods of one pod set, counted.
struct PodCounts {
  std::string pod_set;
  std::int32_t wanted = 0;  ///< at a time
  std::int32_t total = 0;   ///< that have to succeed
  std::int32_t active = 0;  ///< that have not ended
  std::int32_t ready = 0;   ///< of these
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
};

/// What the controller that runs the pods of a job reports of them.
struct JobReport {
  JobStage stage = JobStage::kStarted;
  std::vector<PodCounts> pods;  ///< in the order of the pod sets
  std::string message;          ///< of an end; may be empty
  std::string reason = {};      ///< of a failure; empty: that of pods that failed
};

/// How the host makes the pods of a kind for which no other controller makes them.
struct PodsByHost {
  bool ends = true;                     ///< false: it serves until it is deleted
  std::vector<std::string> successful;  ///< pod sets whose end is the job's; empty: all
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
  /// What pods of the set are like, as a PodTemplateSpec: the template, or `made` of it and other
  /// fields. nullptr: the object does not say.
  virtual const boost::json::object* described(boost::json::object& job, std::size_t i,
                                               boost::json::object& made) const;
  /// Made where it is missing; nullopt: there is none.
  virtual std::optional<StartPlace> start_place(boost::json::object& job, std::size_t i) const;
  /// Takes away what start_place() made and what is empty again.
  virtual void tidy_start(boost::json::object& job, std::size_t i) const;
  /// Where the template stands: `spec.template`.
  virtual std::string template_path(const boost::json::object& job, std::size_t i) const = 0;
  /// Lets the pod set start with fewer pods. Answers what it replaced below spec, as it was, by its
  /// place there: `parallelism`, `groups/0/replicas`; null: there was nothing.
  virtual boost::json::object set_count(boost::json::object& job, std::size_t i,
                                        std::int32_t count) const = 0;
  /// The PriorityClass that the job names; empty: none.
  virtual std::string priority_class(const boost::json::object& job) const;

  /// Whether it is held back: no pods are to be made, those that are there end.
  virtual bool suspended(const boost::json::object& job) const;
  virtual void set_suspended(boost::json::object& job, bool suspended) const;

  /// Some pods have not ended yet.
  virtual bool active(const boost::json::object& job) const = 0;
  /// All pods of all pod sets are ready, or ended well; of more than `granted` so many.
  virtual bool pods_ready(const boost::json::object& job, std::int64_t granted) const = 0;
  /// Pods of a running job that ended and will not be replaced.
  virtual std::vector<FinishedPods> finished_pods(const boost::json::object& job) const = 0;
  /// nullopt while it goes on.
  virtual std::optional<JobEnd> end(const boost::json::object& job) const = 0;
  /// Since when its pods run; nullopt: they do not, or the object does not say.
  virtual std::optional<Time> running_since(const boost::json::object& job) const;

  /// How long it may run before it fails; nullopt: as long as it takes.
  virtual std::optional<Duration> deadline(const boost::json::object&) const {
    return std::nullopt;
  }

  /// What an object of the kind must say so that it can be managed; empty: all is well.
  virtual std::string unfit(const boost::json::object& job) const = 0;
  /// What it must say beside that where the host makes its pods.
  virtual std::string unfit_on_host(const boost::json::object&) const { return {}; }

  /// Whether objects of the kind come to an end by themselves.
  virtual bool ends() const = 0;
  /// The status that says so. A kind without an end of its own ignores the stages of one.
  virtual boost::json::object status_with(const boost::json::object& job, const JobReport& report,
                                          Time now) const = 0;
  /// nullptr: its pods are made by a controller of its own.
  virtual const PodsByHost* pods_by_host() const { return nullptr; }
};

/// The kinds that are built in, by the name under which the data of the schemas have them: `Job`,
/// `RayCluster`; nullptr: there is none of that name.
std::shared_ptr<const JobKind> builtin_job_kind(std::string_view name);

/// Puts back what JobKind::set_count() answered.
void restore_counts(boost::json::object& job, const boost::json::object& replaced);

}  // namespace sluice::api
