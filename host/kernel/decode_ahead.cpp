#include "host/kernel/decode_ahead.hpp"

#include <algorithm>
#include <utility>

namespace sluice::host {
namespace {

constexpr std::size_t kPiece = 256;

}  // namespace

DecodeAhead::DecodeAhead(std::vector<const StoredObject*> stored, const Intake& intake, int threads)
    : stored_(std::move(stored)), intake_(intake), pieces_((stored_.size() + kPiece - 1) / kPiece) {
  const std::size_t wanted =
      threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  for (std::size_t i = 1; i < std::min(wanted, pieces_.size()); ++i)
    others_.emplace_back([this] {
      DecodingRoom room;
      while (decode_one(room)) continue;
    });
}

DecodeAhead::~DecodeAhead() { begun_ = pieces_.size(); }

/// The first piece that is nobody's yet; false: there is none.
bool DecodeAhead::decode_one(DecodingRoom& room) {
  const std::size_t at = begun_++;
  if (at >= pieces_.size()) return false;
  const std::size_t end = std::min(stored_.size(), (at + 1) * kPiece);
  Piece& piece = pieces_[at];
  piece.workloads.reserve(end - at * kPiece);
  for (std::size_t i = at * kPiece; i < end; ++i)
    piece.workloads.push_back(decode_stored(*stored_[i], intake_, room));
  piece.done = true;
  piece.done.notify_one();
  return true;
}

void DecodeAhead::wait_for(Piece& piece) {
  while (!piece.done)
    if (!decode_one(own_)) piece.done.wait(false);
}

std::optional<DecodeAhead::Decoded> DecodeAhead::next() {
  if (handed_out_ == stored_.size()) return std::nullopt;
  const std::size_t at = handed_out_++;
  Piece& piece = pieces_[at / kPiece];
  if (at % kPiece == 0) wait_for(piece);
  return Decoded{stored_[at], std::move(piece.workloads[at % kPiece])};
}

}  // namespace sluice::host
