#include "host/controllers/jobs/job_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kInUse = "sluice.dev/kind-in-use";
/// The sort of the key that stands for all pages; one page has the sort 0.
constexpr std::uint32_t kAllPages = 1;
/// Several pages that are applied together become one change of the rules.
constexpr Duration kSettle = 200 * kMillisecond;
/// They are read where they are stored durably, which on a slow disk is later; and what failed may
/// not fail again. The waits double up to a minute.
constexpr Duration kAskAgain = kSecond;
constexpr Duration kLongestWait = 64 * kSecond;

/// `text` begins with the field that it is about.
void refuse_page(std::vector<api::Problem>& problems, std::string_view text) {
  const std::size_t colon = text.find(": ");
  const bool names = colon != std::string_view::npos;
  problems.push_back({api::Problem::Kind::kInvalid,
                      std::string(names ? text.substr(0, colon) : std::string_view("spec")),
                      std::string(names ? text.substr(colon + 2) : text)});
}

/// The condition Served of a page; false when it says so already.
bool set_served(json::object& status, bool on, std::string_view reason, std::string_view message,
                std::int64_t generation, Time now) {
  return put_condition(status, {{"type", "Served"},
                                {"status", on ? "True" : "False"},
                                {"reason", api::json_view(reason)},
                                {"message", api::json_view(message)},
                                {"observedGeneration", generation},
                                {"lastTransitionTime", format_time(now / kSecond * kSecond)}});
}

}  // namespace

bool JobKindPolicy::wants(const api::KindInfo& kind) const {
  return is_job_page(kind) || !page_of(kind).empty();
}

void JobKindPolicy::creating(const api::KindInfo& kind, json::object& object,
                             const ObjectReader& objects, bool,
                             std::vector<api::Problem>& problems) const {
  if (is_job_page(kind)) {
    const std::string_view name = api::find_text(part(object, "metadata"), "name");
    if (std::string why = refuses_page(objects.scheme(), name, part(object, "spec")); !why.empty())
      refuse_page(problems, why);
    return;
  }
  const auto page = objects.get(*objects.scheme().find(kJobKindVersion, "JobKind"), page_of(kind));
  if (page && is_terminating(*page))
    problems.push_back(
        {api::Problem::Kind::kForbidden, "",
         fmt::format("Forbidden: JobKind {}, which declares the kind, is deleted", page_of(kind))});
}

void JobKindPolicy::updating(const api::KindInfo& kind, json::object& object,
                             const json::object& old, const ObjectReader& objects, bool by_system,
                             std::vector<api::Problem>& problems) const {
  if (!is_job_page(kind) || by_system) return;
  const json::object& before = part(old, "spec");
  const json::object& after = part(object, "spec");
  for (const std::string_view field : {"group", "kind"})
    if (api::find_text(before, field) != api::find_text(after, field))
      refuse_page(problems,
                  fmt::format("spec.{}: Invalid value: \"{}\": field is immutable; delete the "
                              "JobKind and write another one",
                              field, api::find_text(after, field)));
  const auto stored = [](const json::object& spec) {
    const json::array* versions = api::find_array(spec, "versions");
    return versions && !versions->empty() ? api::to_json(versions->front()) : std::string();
  };
  if (stored(before) != stored(after))
    refuse_page(problems,
                "spec.versions[0]: field is immutable: objects are stored in this version");
  const std::string_view name = api::find_text(part(old, "metadata"), "name");
  if (std::string why = refuses_page(objects.scheme(), name, after); !why.empty())
    refuse_page(problems, why);
}

JobKindController::JobKindController(const api::Scheme& scheme, const JobPages& pages,
                                     std::function<void()> others)
    : job_kinds_(scheme.find(kJobKindVersion, "JobKind")),
      pages_(pages),
      others_(std::move(others)) {
  for (const api::KindInfo* kind : scheme.kinds())
    if (!page_of(*kind).empty()) declared_.push_back(kind);
}

std::vector<std::string> JobKindController::watches() const {
  std::vector<std::string> out = {"sluice.dev/JobKind"};
  for (const api::KindInfo* kind : declared_) out.push_back(kind->group_kind());
  return out;
}

void JobKindController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind == job_kinds_) {
    if (!change.stored || !change.before || change.stored->body != change.before->body) {
      changed_ = true;
      keys.push_back({nullptr, {}, kAllPages});
    }
    keys.push_back({job_kinds_, change.key});
  } else if (change.deleted()) {
    keys.push_back({job_kinds_, std::string(page_of(*change.kind))});
  }
}

Result<Time> JobKindController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (!job_kinds_) return kNever;
  return key.sort == kAllPages ? compare(objects) : keep(key.name, objects);
}

/// All pages with those of the rules.
Result<Time> JobKindController::compare(ObjectAccess& objects) {
  std::vector<json::object> all;
  for (const std::string& name : objects.keys(*job_kinds_))
    if (auto page = objects.get(*job_kinds_, name)) all.push_back(std::move(*page));
  if (pages_of(all) == pages_) return kNever;
  if (std::exchange(changed_, false)) {
    due_ = objects.now() + kSettle;
    wait_ = kAskAgain;
  }
  if (objects.now() < due_) return due_;
  others_();
  due_ = objects.now() + std::exchange(wait_, std::min(2 * wait_, kLongestWait));
  return due_;
}

/// A page that is deleted stays, and works, until its last job is gone.
Result<Time> JobKindController::tell_left(const json::object& page, const std::string& name,
                                          std::size_t jobs, ObjectAccess& objects) {
  json::object status = part(page, "status");
  const std::string text = fmt::format("it is deleted as soon as its jobs are gone; {} {} left",
                                       jobs, jobs == 1 ? "is" : "are");
  const std::int64_t generation = api::find_int(part(page, "metadata"), "generation").value_or(1);
  if (!set_served(status, true, "Deleting", text, generation, objects.now())) return kNever;
  if (auto done = plain(objects.update_status(*job_kinds_, name, std::move(status))); !done)
    return done.error();
  return kNever;
}

Result<Time> JobKindController::keep(const std::string& name, ObjectAccess& objects) {
  auto page = objects.get(*job_kinds_, name);
  if (!page) return kNever;
  const api::KindInfo* kind = nullptr;
  for (const api::KindInfo* each : declared_)
    if (page_of(*each) == name) kind = each;
  const std::size_t jobs = kind ? objects.keys(*kind).size() : 0;
  if (is_terminating(*page)) {
    if (!has_finalizer(*page, kInUse)) return kNever;
    if (jobs > 0) return tell_left(*page, name, jobs, objects);
    remove_finalizer(*page, kInUse);
    if (auto done = plain(objects.update(std::move(*page))); !done) return done.error();
    return kNever;
  }
  if (!has_finalizer(*page, kInUse)) {
    add_finalizer(*page, kInUse);
    if (auto done = plain(objects.update(*page)); !done) return done.error();
  }
  const auto declared = pages_.find(name);
  std::string text;
  api::append_canonical_json(part(*page, "spec"), text);
  const bool known = declared != pages_.end() && declared->second.text == text;
  json::object status = part(*page, "status");
  const std::int64_t generation = api::find_int(part(*page, "metadata"), "generation").value_or(1);
  const std::string_view problem = known ? declared->second.problem : std::string_view();
  bool told = false;
  if (!known)
    told = declared == pages_.end() &&
           set_served(status, false, "Pending", "the host is about to take it up", generation,
                      objects.now());
  else if (!problem.empty())
    told = set_served(status, false, "Refused", problem, generation, objects.now());
  else
    told = set_served(status, true, "Served", "objects of the kind are jobs", generation,
                      objects.now());
  if (!told) return kNever;
  if (auto done = plain(objects.update_status(*job_kinds_, name, std::move(status))); !done)
    return done.error();
  return kNever;
}

}  // namespace sluice::host
