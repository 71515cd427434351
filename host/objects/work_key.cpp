#include "host/objects/work_key.hpp"

#include <tuple>

namespace sluice::host {

std::strong_ordering WorkKey::operator<=>(const WorkKey& other) const {
  if (const auto order = sort <=> other.sort; order != 0) return order;
  if (kind != other.kind) {
    if (kind == nullptr || other.kind == nullptr)
      return kind == nullptr ? std::strong_ordering::less : std::strong_ordering::greater;
    const auto order =
        std::tie(kind->group, kind->kind) <=> std::tie(other.kind->group, other.kind->kind);
    if (order != 0) return order;
  }
  return name <=> other.name;
}

std::string to_text(const WorkKey& key) {
  return key.kind ? key.kind->group_kind() + " " + key.name : key.name;
}

}  // namespace sluice::host
