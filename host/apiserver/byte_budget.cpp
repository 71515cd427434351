#include "host/apiserver/byte_budget.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace sluice::host {

bool ByteBudget::take(const std::string& user, std::size_t bytes, std::size_t most,
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

void ByteBudget::give(const std::string& user, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  const auto known = users_.find(user);
  SLUICE_CHECK(known != users_.end() && known->second >= bytes && held_ >= bytes,
               "more bytes given back than taken: ", bytes, " of ", held_);
  held_ -= bytes;
  known->second -= bytes;
  if (known->second == 0) users_.erase(known);
}

std::size_t ByteBudget::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

bool ByteHold::grow(const std::shared_ptr<ByteBudget>& budget, const std::string& user,
                    std::size_t bytes, std::size_t most, std::size_t share) {
  SLUICE_CHECK(bytes >= bytes_, "a hold of ", bytes_, " bytes shrinks to ", bytes);
  if (!budget->take(user, bytes - bytes_, most, share)) return false;
  budget_ = budget;
  user_ = user;
  bytes_ = bytes;
  return true;
}

ByteHold::ByteHold(ByteHold&& other) noexcept
    : budget_(std::move(other.budget_)),
      user_(std::move(other.user_)),
      bytes_(std::exchange(other.bytes_, 0)) {}

ByteHold& ByteHold::operator=(ByteHold&& other) noexcept {
  if (this == &other) return *this;
  release();
  budget_ = std::move(other.budget_);
  user_ = std::move(other.user_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void ByteHold::release() {
  if (bytes_ > 0) budget_->give(user_, std::exchange(bytes_, 0));
}

}  // namespace sluice::host
