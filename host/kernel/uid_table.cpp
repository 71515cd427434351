#include "host/kernel/uid_table.hpp"

#include <utility>

namespace sluice::host {

void UidTable::put(std::string_view uid, ObjectRef ref) {
  const Uid key{std::string(uid)};
  (key.number().known ? uuids_[key.number()] : others_[key.text()]) = std::move(ref);
}

void UidTable::erase(std::string_view uid) {
  const Uid key{std::string(uid)};
  if (key.number().known)
    uuids_.erase(key.number());
  else
    others_.erase(key.text());
}

const ObjectRef* UidTable::find(std::string_view uid) const {
  const Uid key{std::string(uid)};
  if (!key.number().known) {
    const auto it = others_.find(key.text());
    return it == others_.end() ? nullptr : &it->second;
  }
  const auto it = uuids_.find(key.number());
  return it == uuids_.end() ? nullptr : &it->second;
}

}  // namespace sluice::host
