#include "host/writes/transaction.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "core/base/check.hpp"
#include "host/base/log.hpp"

namespace sluice::host {

Transaction::Transaction(ObjectWriter& objects) : objects_(objects) {
  objects_.kernel().begin_staging();
}

void Transaction::drop() {
  if (std::exchange(open_, false)) objects_.kernel().end_staging();
}

void Transaction::suspend() {
  SLUICE_CHECK(open_, "a transaction that is not open is suspended");
  aside_ = objects_.kernel().suspend_staging();
  open_ = false;
}

Result<void> Transaction::resume() {
  SLUICE_CHECK(aside_ != nullptr, "a transaction that is not suspended is resumed");
  if (const auto changed = objects_.kernel().resume_staging(std::move(aside_)))
    return Error{fmt::format("{} {} was changed by others while its call was under way",
                             changed->kind->kind, changed->key)};
  open_ = true;
  return {};
}

void Transaction::commit() {
  SLUICE_CHECK(open_, "a transaction ends twice");
  open_ = false;
  for (StagedChange& change : objects_.kernel().end_staging()) {
    if (auto* object = std::get_if<PreparedObject>(&change))
      apply(std::move(*object));
    else
      apply(std::get<StagedErase>(change));
  }
}

void Transaction::apply(PreparedObject object) {
  const std::string& key = object.stored.key;
  // One that is new to the engine comes as it is said to be.
  if (const api::Condition* end = end_told(object); end && objects_.kernel().engine().find(key))
    if (auto done = objects_.finish_workload(key, end->reason, end->message); !done)
      log(LogLevel::kError, "writes", done.error().text, {{"workload", key}});
  objects_.kernel().commit(std::move(object));
}

void Transaction::apply(const StagedErase& erase) {
  const StoredObject* stored = objects_.kernel().store().find(*erase.kind, erase.key);
  if (!stored) return;  // it went with what it depended on
  // Nothing can depend on what has no identity.
  if (stored->metadata.uid().empty()) return objects_.kernel().erase(*erase.kind, erase.key);
  ObjectAccess& objects = objects_;
  if (auto gone = objects.remove(*erase.kind, erase.key); !gone)
    log(LogLevel::kError, "writes", gone.error().text, {{"object", erase.key}});
}

}  // namespace sluice::host
