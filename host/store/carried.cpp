#include "host/store/carried.hpp"

#include <utility>

#include "host/store/field_marks.hpp"

namespace sluice::host {

class CarriedJournal final : public Journal {
 public:
  explicit CarriedJournal(const Carried& carried) : carried_(carried) {}

  Result<JournalState> load(const std::function<void(const JournalRow&)>& take) override {
    for (const auto& [kind, rows] : carried_.rows_) {
      for (const Carried::Row& row : rows)
        take({.kind = kind,
              .key = row.key,
              .version = row.version,
              .metadata = row.metadata,
              .body = row.body,
              .status = row.status,
              .hidden = row.hidden});
    }
    return carried_.state_;
  }

  Result<void> write(std::span<const JournalRow>, std::uint64_t, std::string_view) override {
    return {};
  }

 private:
  const Carried& carried_;
};

void Carried::take(const LiveStore& store, const api::Scheme& scheme) {
  FieldMarks marks(state_.fields);
  state_.version = store.version();
  for (const api::KindInfo* kind : scheme.kinds()) {
    const std::string name = kind->group_kind();
    auto& rows = rows_[name];
    rows.clear();
    marks.set(name, scheme.fields_mark(*kind));
    state_.kinds[name] = state_.version;
    const auto listing = store.read(*kind, "");
    if (!listing) continue;  // of the present: it cannot be too old
    for (const RecordPtr& record : listing->objects)
      rows.push_back({record->key, record->metadata.text(), std::string(*record->body),
                      record->status, record->hidden, record->version});
  }
  state_.fields = marks.text();
}

std::unique_ptr<Journal> Carried::journal() const {
  return std::make_unique<CarriedJournal>(*this);
}

void Carried::forget(const api::Scheme& scheme) {
  for (const api::KindInfo* kind : scheme.kinds()) rows_.erase(kind->group_kind());
}

}  // namespace sluice::host
