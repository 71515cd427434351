#include "host/outbox/edits.hpp"

#include <utility>

#include "api/jobs/job_kind.hpp"
#include "core/base/check.hpp"
#include "host/outbox/object_patch.hpp"
#include "host/outbox/quota_shown.hpp"

namespace sluice::host {
namespace {

bool stops_job(const StoredObject& before, const StoredObject& after) {
  const api::JobKind* job = after.kind->job.get();
  return job && !job->suspended(to_object(before)) && job->suspended(to_object(after));
}

}  // namespace

std::unique_ptr<OutboxEdit> edit_of_change(const StoredObject& before, const StoredObject& after) {
  const bool goes = after.metadata.terminating() && !before.metadata.terminating();
  const bool status_alone = !goes && same_but_status(before, after);
  if (status_alone && before.status == after.status) return nullptr;
  auto edit = std::make_unique<OutboxEdit>();
  edit->what = goes ? OutboxEdit::What::kDelete : OutboxEdit::What::kChange;
  edit->target = after;
  edit->status_alone = status_alone;
  if (is_workload(*after.kind)) {
    const QuotaShown was = quota_shown(before.status);
    const QuotaShown is = quota_shown(after.status);
    edit->gives = gives_quota(was, is);
    edit->ends = ends_quota(was, is);
    if (edit->gives) edit->gives_of = is.queue();
    if (edit->ends) edit->ends_of = was.queue();
  }
  edit->stops = !status_alone && stops_job(before, after);
  edit->tells = only_tells(before, after);
  return edit;
}

std::unique_ptr<OutboxEdit> edit_of_removal(const StoredObject& before) {
  auto edit = std::make_unique<OutboxEdit>();
  edit->what = OutboxEdit::What::kDelete;
  edit->target = before;
  if (is_workload(*before.kind)) {
    const QuotaShown was = quota_shown(before.status);
    edit->ends = was.held;
    edit->ends_of = was.queue();
  }
  return edit;
}

std::unique_ptr<OutboxEdit> edit_of_creation(StoredObject object) {
  auto edit = std::make_unique<OutboxEdit>();
  edit->what = OutboxEdit::What::kCreate;
  edit->target = std::move(object);
  return edit;
}

std::optional<ClusterRequest> request_of(OutboxEdit& edit) {
  const OutboxEntry& entry = *edit.entry;
  if (edit.read_first) return read_request(*entry.place.kind, entry.place.key);
  if (edit.what == OutboxEdit::What::kCreate) return create_request(edit.target);
  SLUICE_CHECK(entry.base.has_value(), entry.place.key, " is changed before it is there");
  if (edit.what == OutboxEdit::What::kDelete) return delete_request(*entry.base);
  if (edit.stage == Sent::kMain) {
    auto patch = main_patch(*entry.base, edit.target);
    if (!patch.empty()) return patch_request(*entry.base, entry.version, std::move(patch), false);
    edit.stage = Sent::kStatus;
  }
  auto patch = status_patch(*entry.base, edit.target);
  if (patch.empty()) return std::nullopt;
  edit.removes_first = false;
  if (edit.gives) {
    patch = removals_in(patch);
    edit.removes_first = !patch.empty();
    if (patch.empty()) return admission_request(*entry.base, entry.version, edit.target);
  }
  return patch_request(*entry.base, entry.version, std::move(patch),
                       entry.place.kind->status_subresource);
}

std::size_t place_of_stop(const OutboxChain& chain, const OutboxEntry& entry) {
  for (std::size_t i = chain.edits.size(); i > 0; --i) {
    const OutboxEdit& before = *chain.edits[i - 1];
    if (before.ends && !before.gives) return i;
    const bool begun = before.id != 0 || before.failures > 0 || before.stage != Sent::kMain;
    if (before.entry == &entry || begun) break;
  }
  return chain.edits.size();
}

bool goes_on_with_a_stop(OutboxChain& chain, std::uint64_t end, bool in_midst) {
  for (const auto& edit : chain.edits) {
    if (edit->gives || (in_midst && edit->ends)) return false;
    const bool stop = edit->deletes_a_pod() || (!in_midst && edit->entry->place.kind->job);
    if (!stop || edit->with_end != 0) continue;
    edit->with_end = end;
    return true;
  }
  return false;
}

}  // namespace sluice::host
