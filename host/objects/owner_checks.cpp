#include "host/objects/owner_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "api/json/json.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const json::object& metadata_in(const json::object* object) {
  static const json::object kNone;
  return object ? part(*object, "metadata") : kNone;
}

bool controls(const json::object& owner) { return api::find_bool(owner, "controller", false); }

template <typename Same>
bool has_owner(const json::object& metadata, Same same) {
  const json::array* owners = api::find_array(metadata, "ownerReferences");
  return owners && std::any_of(owners->begin(), owners->end(), [&](const json::value& each) {
           return each.is_object() && same(each.get_object());
         });
}

bool same_text(const json::object& a, const json::object& b, std::string_view member) {
  return api::find_text(a, member) == api::find_text(b, member);
}

void check_added(const api::Scheme& scheme, const json::object& before, const json::object& after,
                 std::vector<api::Problem>& problems) {
  std::size_t i = 0;
  for_each_object(after, "ownerReferences", [&](const json::object& owner) {
    const std::size_t at = i++;
    const std::string_view of = api::find_text(owner, "kind");
    if (!controls(owner) || !scheme.find(api::find_text(owner, "apiVersion"), of)) return;
    if (has_owner(before, [&](const json::object& each) { return same_text(each, owner, "uid"); }))
      return;
    problems.push_back(
        {api::Problem::Kind::kForbidden, fmt::format("metadata.ownerReferences[{}]", at),
         fmt::format("Forbidden: only the system makes workloads that a {} controls; a job takes "
                     "one that was made before it by its label kueue.x-k8s.io/"
                     "prebuilt-workload-name",
                     of)});
  });
}

/// Whether what the reference names is there, and runs.
bool owns(const ObjectReader& objects, const json::object& owner, std::string_view ns) {
  const api::KindInfo* kind =
      objects.scheme().find(api::find_text(owner, "apiVersion"), api::find_text(owner, "kind"));
  if (!kind || !(kind->job || is_pod(*kind))) return false;
  const auto found = objects.get(*kind, key_of(*kind, ns, api::find_text(owner, "name")));
  if (!found) return false;
  return same_text(part(*found, "metadata"), owner, "uid");
}

void check_removed(const ObjectReader& objects, const json::object& before,
                   const json::object& after, std::vector<api::Problem>& problems) {
  for_each_object(before, "ownerReferences", [&](const json::object& owner) {
    const auto same = [&](const json::object& each) {
      return same_text(each, owner, "uid") && same_text(each, owner, "kind") &&
             same_text(each, owner, "name") && same_text(each, owner, "apiVersion") &&
             controls(each) == controls(owner);
    };
    if (has_owner(after, same) || !owns(objects, owner, api::find_text(before, "namespace")))
      return;
    problems.push_back({api::Problem::Kind::kForbidden, "metadata.ownerReferences",
                        fmt::format("Forbidden: {} {} runs on the quota of this workload, which "
                                    "cannot be taken from it while it is there",
                                    api::find_text(owner, "kind"), api::find_text(owner, "name"))});
  });
}

}  // namespace

void check_owners(const ObjectReader& objects, const api::KindInfo& kind,
                  const json::object* before, const json::object& after,
                  std::vector<api::Problem>& problems) {
  if (!is_workload(kind)) return;
  check_added(objects.scheme(), metadata_in(before), metadata_in(&after), problems);
  check_removed(objects, metadata_in(before), metadata_in(&after), problems);
}

}  // namespace sluice::host
