// What a plugin's process writes into its socket: the first byte says in which pieces the rest
// comes. Every whole frame is a message or an error, the same whatever the pieces are; notes and
// requests of any content are taken or refused.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/process/frames.hpp"
#include "host/plugins/process/messages.hpp"
#include "host/plugins/process/services.hpp"

namespace {

/// The frames of a stream, and what ended it.
std::vector<std::string> frames_of(std::string_view bytes, std::size_t piece) {
  sluice::host::FrameReader reader;
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    reader.add(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      auto frame = reader.next();
      if (!frame) {
        frames.push_back("error: " + frame.error().text);
        return frames;
      }
      if (!*frame) break;
      frames.push_back(std::move(**frame));
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::host;
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto frames = frames_of(bytes, data[0] == 0 ? 1 : data[0]);
  SLUICE_CHECK(frames == frames_of(bytes, bytes.size()), "frames depend on the pieces");
  VirtualClock clock;
  MetricsRegistry metrics;
  HostSide side("fuzz", boost::json::object(), {&clock, &metrics, {}});
  side.allow({.timers = true, .reports = true});
  for (const std::string& frame : frames) {
    const auto message = parse_message(frame);
    if (!message) continue;
    if (message->type == Message::Type::kNote)
      static_cast<void>(take_note(side.table(), *message).ok());
    if (message->type == Message::Type::kRequest) {
      const auto reply = parse_message(reply_to(side.table(), *message));
      SLUICE_CHECK(reply.ok() && reply->number == message->number, "a reply that is none");
    }
  }
  return 0;
}
