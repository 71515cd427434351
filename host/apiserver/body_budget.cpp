#include "host/apiserver/body_budget.hpp"

#include "core/base/check.hpp"

namespace sluice::host {

bool BodyBudget::take(const std::string& user, std::size_t bytes, std::size_t most,
                      std::size_t share) {
  if (bytes == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto known = users_.find(user);
  const std::size_t own = known == users_.end() ? 0 : known->second;
  if (held_ + bytes > most || (own > 0 && own + bytes > share)) return false;
  users_[user] = own + bytes;
  held_ += bytes;
  return true;
}

void BodyBudget::give(const std::string& user, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  const auto known = users_.find(user);
  SLUICE_CHECK(known != users_.end() && known->second >= bytes && held_ >= bytes,
               "more bytes of bodies given back than taken: ", bytes, " of ", held_);
  held_ -= bytes;
  known->second -= bytes;
  if (known->second == 0) users_.erase(known);
}

std::size_t BodyBudget::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace sluice::host
