// Model: what must hold of what is published, worked out from the objects' texts in the plainest
// way: no engine, no tree, no index. It remembers what it saw the last time.
//
// The rules: a workload that holds quota was within the limits when it got it; what a queue says
// that is reserved is the sum over its workloads; a job runs exactly while its workload is
// admitted; what was acknowledged is there. One thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/store/live_store.hpp"
#include "tests/dst/object_trees.hpp"

namespace sluice::host::test {

class Model {
 public:
  /// A job that a client was told is there.
  void job_acknowledged(const std::string& key) { jobs_.insert(key); }
  /// Its deletion was asked for: it may be there or not.
  void job_deleted(const std::string& key) { jobs_.erase(key); }

  /// Looks at what is published. What must not be goes to `wrong`.
  void look(const LiveStore& store, const api::Scheme& scheme, ObjectTrees& trees, Time now,
            std::vector<std::string>& wrong);

  /// `in_use`: thousandths of a CPU by job, as its pods run when an instant is over. They hold
  /// quota for all of it, as look() saw last.
  void check_in_use(const std::map<std::string, std::int64_t>& in_use,
                    std::vector<std::string>& wrong) const;

  /// Jobs that have not ended, as it looked last; one whose deletion was lost in a crash, too.
  const std::set<std::string>& unfinished() const { return unfinished_; }

 private:
  using Amounts = std::map<std::string, std::int64_t>;  // `queue flavor` → thousandths of a CPU
  struct Queue {
    std::string cohort;
    Amounts nominal, limit, told;  // by flavor; what may be used in all; what the status says
  };
  struct Seen {
    std::map<std::string, Queue> queues;
    std::map<std::string, Amounts> held;          // by workload: `queue flavor`
    std::map<std::string, Amounts> of_job;        // the same by job
    std::set<std::string> holders;                // UIDs of who holds it, and since when
    std::map<std::string, std::string> admitted;  // workload → job
    std::map<std::string, std::string> owners;    // workload → the workload or job that it is of

    /// The job that it is of in the end; itself when it is of none.
    const std::string& job(const std::string& workload) const;
  };
  static Queue read_queue(const boost::json::object& object);
  static Seen read(const LiveStore& store, const api::Scheme& scheme, ObjectTrees& trees,
                   std::vector<std::string>& wrong);
  void check_quota(const Seen& now, std::vector<std::string>& wrong) const;
  static void check_told(const Seen& now, std::vector<std::string>& wrong);
  void check_jobs(const Seen& now, const LiveStore& store, const api::Scheme& scheme,
                  ObjectTrees& trees, std::vector<std::string>& wrong);

  std::set<std::string> jobs_, unfinished_;
  Seen before_;
  Time untold_since_ = kNever;  // the queues tell something else than what is held
  Time held_since_ = 0;         // workloads have held what they hold since then
  std::uint64_t version_ = 0;
};

}  // namespace sluice::host::test
