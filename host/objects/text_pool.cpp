#include "host/objects/text_pool.hpp"

#include <algorithm>

namespace sluice::host {

TextPool::Text TextPool::intern(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto it = texts_.find(text); it != texts_.end()) return it->second;
  if (texts_.size() >= sweep_at_) sweep();
  auto copy = std::make_shared<const std::string>(text);
  texts_.emplace(std::string_view(*copy), copy);
  return copy;
}

void TextPool::sweep() {
  std::erase_if(texts_, [](const auto& entry) { return entry.second.use_count() == 1; });
  sweep_at_ = std::max<std::size_t>(4096, texts_.size() * 2);
}

}  // namespace sluice::host
