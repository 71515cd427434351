#include "host/writes/draft.hpp"

#include <algorithm>

namespace sluice::host {

namespace json = boost::json;

Edit open_edit(const DraftView& view, ObjectRef ref, RecordPtr stored, bool status) {
  auto memory = Edit::memory();
  json::object before = view.current(*stored, memory.get());
  return {std::move(ref), std::move(stored), status, std::move(memory), std::move(before)};
}

RecordPtr Reads::find(const api::KindInfo& kind, std::string_view key) const {
  RecordPtr found = view_->find(kind, key);
  reads_.push_back(
      {{&kind, std::string(key)}, found != nullptr, found ? found->version : std::uint64_t{0}});
  return found;
}

bool Reads::exists(const api::KindInfo& kind, std::string_view key) const {
  const bool there = view_->find(kind, key) != nullptr;
  reads_.push_back({{&kind, std::string(key)}, there, std::nullopt});
  return there;
}

std::optional<json::object> Reads::get(const api::KindInfo& kind, std::string_view key) const {
  const RecordPtr found = find(kind, key);
  if (!found) return std::nullopt;
  return view_->current(*found, {});
}

bool Reads::may_lower_counts(std::string_view key) const {
  may_lower_asked_ = key;
  return may_lower_ = view_->may_lower_counts(key);
}

bool Reads::hold(const DraftView& view) const {
  if (may_lower_asked_ && view.may_lower_counts(*may_lower_asked_) != may_lower_) return false;
  if (!priority_.class_name.empty() && view.priority_of(priority_.class_name) != priority_.value)
    return false;
  return std::all_of(reads_.begin(), reads_.end(), [&view](const Read& read) {
    const RecordPtr found = view.find(*read.ref.kind, read.ref.key);
    if ((found != nullptr) != read.there) return false;
    return !found || !read.version || found->version == *read.version;
  });
}

}  // namespace sluice::host
