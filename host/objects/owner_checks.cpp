#include "host/objects/owner_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/json/json.hpp"
#include "api/scheme/controlling_job.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "sluice/cpp/marks.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const json::object& metadata_in(const json::object* object) {
  static const json::object kNone;
  return object ? part(*object, "metadata") : kNone;
}

bool controls(const json::object& owner) { return api::find_bool(owner, "controller", false); }

bool same_text(const json::object& a, const json::object& b, std::string_view member) {
  return api::find_text(a, member) == api::find_text(b, member);
}

/// Those of a cluster's garbage collector, by which dependents lose the owner that leaves them
/// behind (`--cascade=orphan`): its own account, or that of all controllers where they share one.
constexpr std::string_view kGarbageCollectors[] = {
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:kube-controller-manager"};

/// The references of an object, by all that says whose they are. O(n log n) to make, O(log n) to
/// ask: of a group of pods each is an owner of its workload. The object has to live as long.
class References {
 public:
  explicit References(const json::object& metadata) {
    for_each_object(metadata, "ownerReferences",
                    [&](const json::object& owner) { all_.insert(parts_of(owner)); });
  }
  bool contain(const json::object& owner) const { return all_.contains(parts_of(owner)); }

 private:
  using Parts =
      std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, bool>;
  static Parts parts_of(const json::object& owner) {
    return {api::find_text(owner, "uid"), api::find_text(owner, "kind"),
            api::find_text(owner, "name"), api::find_text(owner, "apiVersion"), controls(owner)};
  }

  std::set<Parts> all_;
};

/// Calls tell(number, owner) for each reference that came.
template <typename Tell>
void each_added(const json::object& before, const json::object& after, Tell tell) {
  const References known(before);
  std::size_t i = 0;
  for_each_object(after, "ownerReferences", [&](const json::object& owner) {
    const std::size_t at = i++;
    if (!known.contain(owner)) tell(at, owner);
  });
}

/// The same of controllers, with their kind: tell(number, kind). Kinds that are not known are left
/// out.
template <typename Tell>
void each_added_controller(const api::Scheme& scheme, const json::object& before,
                           const json::object& after, Tell tell) {
  each_added(before, after, [&](std::size_t at, const json::object& owner) {
    const api::KindInfo* of =
        scheme.find(api::find_text(owner, "apiVersion"), api::find_text(owner, "kind"));
    if (of && controls(owner)) tell(at, *of);
  });
}

void refuse(std::vector<api::Problem>& problems, std::string field, std::string text) {
  problems.push_back(
      {api::Problem::Kind::kForbidden, std::move(field), "Forbidden: " + std::move(text)});
}

/// What a job controls goes with it: another owner would keep it, or a cluster's collector take it
/// off the job alone.
void check_further_owners(const json::object& before, const json::object& after,
                          std::vector<api::Problem>& problems) {
  each_added(before, after, [&](std::size_t at, const json::object&) {
    refuse(problems, fmt::format("metadata.ownerReferences[{}]", at),
           "what a job controls has no other owner, and goes with the job");
  });
}

void check_added_to_workload(const api::Scheme& scheme, const json::object& before,
                             const json::object& after, std::vector<api::Problem>& problems) {
  each_added_controller(scheme, before, after, [&](std::size_t at, const api::KindInfo& of) {
    refuse(problems, fmt::format("metadata.ownerReferences[{}]", at),
           fmt::format("only the system makes workloads that a {} controls; a job takes one "
                       "that was made before it by its annotation or label kueue.x-k8s.io/"
                       "prebuilt-workload-name",
                       of.kind));
  });
}

void check_added_to_pod(const api::Scheme& scheme, const json::object& before,
                        const json::object& after, std::vector<api::Problem>& problems) {
  each_added_controller(scheme, before, after, [&](std::size_t at, const api::KindInfo& of) {
    if (!of.job) return;
    refuse(problems, fmt::format("metadata.ownerReferences[{}]", at),
           fmt::format("only its controller makes pods of a {}, which counts them", of.kind));
  });
}

/// Whether what the reference names is there, and runs.
bool owns(const ObjectReader& objects, const json::object& owner, std::string_view ns,
          bool pods_count) {
  const api::KindInfo* kind =
      objects.scheme().find(api::find_text(owner, "apiVersion"), api::find_text(owner, "kind"));
  if (!kind || !(kind->job || (pods_count && is_pod(*kind)))) return false;
  const auto found = objects.get(*kind, key_of(*kind, ns, api::find_text(owner, "name")));
  return found && same_text(part(*found, "metadata"), owner, "uid");
}

void check_removed(const ObjectReader& objects, bool of_workload, const json::object& before,
                   const json::object& after, std::vector<api::Problem>& problems) {
  const References left(after);
  for_each_object(before, "ownerReferences", [&](const json::object& owner) {
    if (left.contain(owner) ||
        !owns(objects, owner, api::find_text(before, "namespace"), of_workload))
      return;
    const std::string who =
        fmt::format("{} {}", api::find_text(owner, "kind"), api::find_text(owner, "name"));
    refuse(problems, "metadata.ownerReferences",
           of_workload ? who +
                             " runs on the quota of this workload, which cannot be taken from it "
                             "while it is there"
                       : "the pod is one of " + who + ", and stays so while that is there");
  });
}

}  // namespace

void check_owners(const ObjectReader& objects, const api::KindInfo& kind, std::string_view user,
                  const json::object* before, const json::object& after,
                  std::vector<api::Problem>& problems) {
  const bool of_workload = is_workload(kind);
  const json::object &old = metadata_in(before), &now = metadata_in(&after);
  if (std::ranges::find(kGarbageCollectors, user) != std::end(kGarbageCollectors)) return;
  const bool by_controller = is_controller(user, api::find_text(now, "namespace"));
  if (of_workload) {
    check_added_to_workload(objects.scheme(), old, now, problems);
  } else if (is_pod(kind) && !by_controller) {
    check_added_to_pod(objects.scheme(), old, now, problems);
  } else {
    return;
  }
  check_removed(objects, of_workload, old, now, problems);
  if (!by_controller && before && !api::controlling_jobs(*before, objects.scheme()).empty())
    check_further_owners(old, now, problems);
}

}  // namespace sluice::host
