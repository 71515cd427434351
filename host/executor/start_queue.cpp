#include "host/executor/start_queue.hpp"

#include <utility>

#include "host/objects/object_key.hpp"

namespace sluice::host {

void StartQueue::add(const Pod& pod) {
  if (!keys_.emplace(pod.uid, pod.key).second) return;
  lines_[std::string(namespace_of(pod.key))].push_back(pod.uid);
}

void StartQueue::clear() {
  lines_.clear();
  keys_.clear();
}

std::optional<StartQueue::Pod> StartQueue::next() {
  while (!lines_.empty()) {
    auto turn = lines_.upper_bound(last_);
    if (turn == lines_.end()) turn = lines_.begin();
    last_ = turn->first;
    const std::string uid = std::move(turn->second.front());
    turn->second.pop_front();
    if (turn->second.empty()) lines_.erase(turn);
    if (auto known = keys_.extract(uid)) return Pod{uid, std::move(known.mapped())};
  }
  return std::nullopt;
}

}  // namespace sluice::host
