// Cases: what is known of a workload that has the check, here and at the other places, as the
// functions that decide take it.
//
// Nothing is remembered that cannot be read again, but the attempts, since when the nominated
// clusters have their turn, since when one cannot be connected to, refuses a job or a write failed,
// and which workloads jobs have, and had that are gone. Reading changes no object. Used inside the
// hooks, on their thread.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "copies.hpp"
#include "known_jobs.hpp"
#include "plan.hpp"
#include "refusals.hpp"

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

/// As NAMESPACE/NAME, and back.
std::string key_of(const WorkloadName& workload);
WorkloadName named(const std::string& key);

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

class Cases {
 public:
  Cases(const sluice::Context& context, Settings settings)
      : context_(context),
        settings_(std::move(settings)),
        refusals_(settings_.policy.lost_timeout_ms) {}

  const Settings& settings() const { return settings_; }

  /// The clusters of a check, in order; an empty list: it cannot be carried out.
  void set_check(const std::string& check, std::vector<std::string> clusters) {
    checks_[check] = std::move(clusters);
  }
  void forget_check(const std::string& check) { checks_.erase(check); }
  std::vector<std::string> clusters_of(const std::string& check) const;
  /// Of all that were named, whether checks name them or not.
  std::set<std::string>& clusters() { return clusters_; }

  /// The host tells of each attempt when it begins, and of all after a start.
  void begin(const sluice::CheckAttempt& attempt);
  /// The check of an attempt that was under way; empty: it is not.
  std::string end(const sluice::CheckAttempt& attempt);
  /// Those that have the check now.
  std::vector<WorkloadName> under_way() const;
  /// The nominated clusters have their turn from now on; or nobody has.
  void nominated(const std::string& uid, bool any);

  /// The conditions of the workload where they have to say something else of who refuses its job;
  /// nullopt: they say it.
  std::optional<sluice::Json> refusals_shown(const Case& of) const;

  /// Whether the workload waits for a check that is carried out here, or is gone; the marks on
  /// others are somebody else's.
  bool concerns(const WorkloadName& workload) const;
  /// `job`: the name of its job, where that is known.
  Case read(const WorkloadName& workload, const std::string& job = {});
  std::vector<Place> read_places(Case& of);
  Writing writing(const std::string& remote, const sluice::ObjectRef& ref);
  /// A write to the object leaves: if that fails, it rests anew.
  void tries(const std::string& remote, const sluice::ObjectRef& ref);

  /// What a workload has to do with an object of another place; nullopt: nothing.
  std::optional<WorkloadName> workload_of(const sluice::ObjectRef& remote_object);
  /// The job is made elsewhere: what becomes of it is told by its name, also where it is refused.
  void made_job(const Case& of) { workload_by_job_[{of.name.ns, of.job_name}] = of.name.name; }
  /// The other workloads of a job that may change its size, which are not over.
  std::vector<WorkloadName> kin(const WorkloadName& workload);

  sluice::ObjectRef workload_ref(const Case& of) const;
  sluice::ObjectRef job_ref(const Case& of) const;
  /// Of the copy at a place, which may have got another name there.
  sluice::ObjectRef copy_ref(const Case& of, const Place& place) const;

 private:
  std::optional<WorkloadName> kin_of_copy(const sluice::ObjectRef& what, const sluice::Json& there);
  void read_check(Case& of) const;
  bool is_needed(const WorkloadName& workload, const KnownJob& job);
  void read_kin(Case& of);
  void read_kin_there(const Case& of, Place& place, const sluice::Json& job);
  std::vector<sluice::Json> kin_of(const std::string& ns, const std::string& job_uid);
  Place read_place(Case& of, const std::string& name);
  void read_refusal(const Case& of, Place& place);
  void read_stiffness(const Case& of, Place& place);
  std::int64_t now_ms() const { return context_.now() / kMillisecond; }
  std::int64_t unknown_for(const std::string& name);

  sluice::Context context_;
  Settings settings_;
  Refusals refusals_;
  std::map<std::string, std::vector<std::string>> checks_;
  std::set<std::string> clusters_;
  std::map<std::string, sluice::CheckAttempt> attempts_;  // by UID of the workload
  std::map<std::string, std::int64_t> nominated_since_;   // the same
  std::map<std::string, std::int64_t> unknown_since_;     // by cluster
  std::map<std::string, std::int64_t> failed_since_;      // writes, by cluster, kind and name
  std::map<std::pair<std::string, std::string>, std::string> workload_by_job_;  // ns, job
  KnownJobs elastic_job_of_;
  std::map<std::string, std::int64_t> stiff_since_;  // clusters that let no job change its size
};

}  // namespace clusters
