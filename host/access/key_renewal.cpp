#include "host/access/key_renewal.hpp"

#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {

Result<ServerKeys> KeyRenewal::prepare(const ServerConfig& server, std::int64_t now) const {
  const std::lock_guard lock(mutex_);  // the files are written by one at a time
  return prepare_keys(server, folder_, now, &keys_);
}

void KeyRenewal::set(const ServerConfig& server, ServerKeys keys) {
  const std::lock_guard lock(mutex_);
  server_ = server;
  keys_ = std::move(keys);
}

ServerKeys KeyRenewal::keys() const {
  const std::lock_guard lock(mutex_);
  return keys_;
}

bool KeyRenewal::look(std::int64_t now, const Apply& apply) {
  const std::lock_guard lock(mutex_);
  auto fresh = prepare_keys(server_, folder_, now, &keys_);
  if (fresh && *fresh == keys_) return false;
  Result<void> applied;
  if (fresh) applied = apply(*fresh);
  if (!fresh || !applied) {
    log(LogLevel::kError, "access", "the certificates could not be renewed",
        {{"reason", fresh ? applied.error().text : fresh.error().text}});
    return false;
  }
  keys_ = std::move(*fresh);
  log(LogLevel::kInfo, "access", "renewed the certificates");
  return true;
}

void KeyRenewal::start(std::function<std::int64_t()> seconds, Apply apply, Duration period) {
  lookout_.emplace("keys", [this, seconds = std::move(seconds), apply = std::move(apply), period] {
    look(seconds(), apply);
    return period;
  });
  lookout_->start(period);
}

}  // namespace sluice::host
