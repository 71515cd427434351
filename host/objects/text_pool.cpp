#include "host/objects/text_pool.hpp"

namespace sluice::host {

TextPool::Text TextPool::intern(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto it = texts_.find(text); it != texts_.end()) return it->second;
  if (pace_.due()) sweep();
  auto copy = std::make_shared<const std::string>(text);
  texts_.emplace(std::string_view(*copy), copy);
  pace_.took(text.size());
  return copy;
}

void TextPool::sweep() {
  std::erase_if(texts_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::size_t bytes = 0;
  for (const auto& [text, held] : texts_) bytes += text.size();
  pace_.swept(texts_.size(), bytes);
}

}  // namespace sluice::host
