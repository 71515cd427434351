// Dispatcher: carries out, for one workload at a time, what plan_of() says: reads what is known
// here and at the other places, and writes.
//
// Nothing is remembered that cannot be read again, but since when the nominated clusters have their
// turn, since when one cannot be connected to or a write failed, and what clusters were asked. Used
// inside the hooks that may write, on their thread.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "asking.hpp"
#include "copies.hpp"
#include "plan.hpp"
#include "telling.hpp"

namespace clusters {

/// A kind of job, by apiVersion and kind.
struct JobKind {
  std::string api_version, kind;
};

struct Settings {
  std::string origin = "multikueue";
  std::string secret_namespace = "kueue-system";
  std::string kubeconfig_folder;
  std::vector<JobKind> kinds;
  Policy policy;
};

/// A workload by its namespace and name.
struct WorkloadName {
  std::string ns, name;
  auto operator<=>(const WorkloadName&) const = default;
};

class Dispatcher {
 public:
  Dispatcher(const sluice::Context& context, Settings settings);

  const Settings& settings() const { return settings_; }

  /// The clusters of a check, in order; an empty list: it cannot be carried out.
  void set_check(const std::string& check, std::vector<std::string> clusters) {
    checks_[check] = std::move(clusters);
  }
  void forget_check(const std::string& check) { checks_.erase(check); }
  /// Of all that were named, whether checks name them or not.
  std::set<std::string>& clusters() { return clusters_; }

  void begin(const sluice::CheckAttempt& attempt) { attempts_[attempt.uid] = attempt; }
  void end(const sluice::CheckAttempt& attempt);

  /// Whether the workload waits for a check that is carried out here, or is gone; the marks on
  /// others are somebody else's.
  bool concerns(const WorkloadName& workload) const;
  /// Brings one workload into line everywhere. `job`: the name of its job, where that is known.
  sluice::Again settle(const WorkloadName& workload, const std::string& job = {});
  /// Those that have the check now.
  std::vector<WorkloadName> under_way() const;

  /// Where it is or was asked for, and what is said there: sentences for people. Changes nothing.
  std::vector<std::string> explain(const WorkloadName& workload);

  /// What a workload has to do with an object of another place; nullopt: nothing.
  std::optional<WorkloadName> workload_of(const sluice::ObjectRef& remote_object);
  /// There is an answer to what a cluster was asked.
  sluice::Again hear(const sluice::ObjectRef& question);

 private:
  /// What is known of one workload.
  struct Case {
    WorkloadName name;
    std::optional<sluice::Json> workload, job;
    std::string uid, job_name, job_uid;
    const JobKind* kind = nullptr;
    std::string check;
    std::optional<sluice::CheckAttempt> attempt;
    Local local;
  };

  void read_local(Case& of);
  std::optional<WorkloadName> kin_of_copy(const sluice::ObjectRef& what, const sluice::Json& there);
  void read_check(Case& of) const;
  void read_kin(Case& of);
  void read_kin_there(const Case& of, Place& place, const sluice::Json& job);
  std::vector<sluice::Json> kin_of(const std::string& ns, const std::string& job_uid) const;
  Telling telling(const Case& of, const std::string& cluster, bool chosen);
  std::optional<sluice::Json> copy_there(const Case& of, const Telling& told) const;
  sluice::Again settle_one(const WorkloadName& workload, const std::string& job);
  std::string refusal(const Case& of) const;
  std::vector<Place> read_places(Case& of);
  Place read_place(Case& of, const std::string& name);
  std::int64_t unknown_for(const std::string& name);
  Writing writing(const std::string& remote, const sluice::ObjectRef& ref);

  sluice::Again ask_first(const Case& of, const std::vector<Place>& places, const Plan& plan);
  sluice::Again go_on_asking(const std::string& check);
  bool put(const std::string& cluster, const std::string& check, const sluice::Json& question);
  std::vector<std::string> who_tells(const std::string& check);
  void carry_out(const Case& of, const std::vector<Place>& places, const Plan& plan);
  void take(const Case& of, const Place& place, const Step& step);
  void note_places(const Case& of, const Plan& plan);
  void show_status(const Case& of, const std::string& place);
  void finish(const Case& of, const Place& place);
  void clear_status(const Case& of);
  void tell(const Case& of, const Verdict& verdict);
  bool patch_status(const sluice::ObjectRef& ref, const sluice::Json& merge, const char* what);

  sluice::ObjectRef workload_ref(const Case& of) const;
  sluice::ObjectRef copy_ref(const Case& of, const Place& place) const;
  sluice::ObjectRef job_ref(const Case& of) const;
  Origin origin(const Case& of) const;

  sluice::Context context_;
  Settings settings_;
  sluice::Metric dispatched_, admitted_;
  std::map<std::string, std::vector<std::string>> checks_;
  std::set<std::string> clusters_;
  std::map<std::string, Asking> asking_;                  // by check
  std::map<std::string, std::int64_t> silent_until_;      // clusters that answer no questions
  std::map<std::string, sluice::CheckAttempt> attempts_;  // by UID of the workload
  std::map<std::string, std::int64_t> nominated_since_;   // the same
  std::map<std::string, std::int64_t> unknown_since_;     // by cluster
  std::map<std::string, std::int64_t> failed_since_;      // writes, by cluster, kind and name
  std::map<std::pair<std::string, std::string>, std::string> workload_by_job_;  // ns, job
  std::map<WorkloadName, std::pair<std::string, std::string>> elastic_job_of_;  // name, UID
};

}  // namespace clusters
