// JobKinds: objects JobKind are pages by which kinds of jobs are served (docs/job-kinds.md). The
// policy refuses what is no page, or one for a kind that is there already; the controller says of
// each page whether its kind is served, keeps a page while there are jobs of its kind, and asks for
// a new set of rules when the pages are others than those of the present one.
//
// Kernel's thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/objects/controller.hpp"
#include "host/objects/job_pages.hpp"
#include "host/writes/policy.hpp"

namespace sluice::host {

class JobKindPolicy final : public WritePolicy {
 public:
  bool wants(const api::KindInfo& kind) const override;
  void creating(const api::KindInfo& kind, boost::json::object& object, const ObjectReader& objects,
                bool by_system, std::vector<api::Problem>& problems) const override;
  void updating(const api::KindInfo& kind, boost::json::object& object,
                const boost::json::object& old, const ObjectReader& objects, bool by_system,
                std::vector<api::Problem>& problems) const override;
};

class JobKindController final : public Controller {
 public:
  /// `pages`: those of the rules, which must outlive it. `others`: called when the pages differ
  /// from those, and again, more and more rarely, while they do; empty: pages are not taken up
  /// here, and the controller has nothing to do.
  JobKindController(const api::Scheme& scheme, const JobPages& pages, std::function<void()> others);

  bool idle() const { return !others_; }

  std::string_view name() const override { return "job-kinds"; }
  std::vector<std::string> watches() const override;
  /// Keys are names of JobKinds, or empty: all pages together.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  Result<Time> compare(ObjectAccess& objects);
  Result<Time> tell_left(const boost::json::object& page, const std::string& name, std::size_t jobs,
                         ObjectAccess& objects);
  Result<Time> keep(const std::string& name, ObjectAccess& objects);

  const api::KindInfo* job_kinds_;
  std::vector<const api::KindInfo*> declared_;
  const JobPages& pages_;
  std::function<void()> others_;
  bool changed_ = false;  ///< a page was written since the last look at all of them
  Time due_ = 0;          ///< when to ask for other rules, unless pages change again
  Duration wait_ = 0;     ///< until it is asked once more
};

}  // namespace sluice::host
