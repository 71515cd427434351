#include "host/simulate/preparing.hpp"

#include <algorithm>
#include <utility>

#include "host/writes/object_writer.hpp"

namespace sluice::host {

void Preparing::add(const api::KindInfo& kind, boost::json::object object) {
  items_.push_back({&kind, std::move(object)});
}

/// All items, in pieces; each piece is one worker's, and its memory with it.
void Preparing::each(const std::function<void(Item&, boost::json::monotonic_resource&)>& work) {
  workers_.run(memory_.size(), [&](std::size_t piece) {
    const std::size_t end = std::min(items_.size(), (piece + 1) * kPiece);
    for (std::size_t i = piece * kPiece; i < end; ++i) work(items_[i], *memory_[piece]);
  });
}

void Preparing::run(const Done& done) {
  while (memory_.size() * kPiece < items_.size())
    memory_.push_back(std::make_unique<boost::json::monotonic_resource>(kPieceBytes));
  each([this](Item& item, boost::json::monotonic_resource& memory) {
    item.validated.emplace(item.given, &memory);
    item.problems = intake_.validate(*item.kind, *item.validated, nullptr, {});
  });
  for (Item& item : items_)
    if (item.problems.empty() && intake_.asks_plugins(*item.kind) &&
        !is_judged_when_written(*item.kind))
      item.problems = intake_.ask_plugins(*item.kind, *item.validated, nullptr, {});
  each([this](Item& item, boost::json::monotonic_resource&) {
    if (item.problems.empty()) item.out = intake_.encode(*item.kind, *item.validated);
  });
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.problems.empty()) intake_.remember(*item.kind, *item.validated);
    done(i, item.given, item.problems, std::move(item.out));
  }
  items_.clear();
  memory_.clear();
}

}  // namespace sluice::host
