#include "host/simulate/progress_notes.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/simulate/story.hpp"

namespace sluice::host {

ProgressOutput ProgressNotes::output(std::chrono::nanoseconds every, Say say) {
  if (auto terminal = progress_terminal()) {
    // What is read has a line of its own.
    terminal->say = [say = terminal->say](const ProgressLine& line) {
      if (!line.detail.empty()) say(line);
    };
    return std::move(*terminal);
  }
  return {every,
          [say = std::move(say)](const ProgressLine& line) {
            say(line.detail.empty() ? "note: still reading the manifests"
                                    : "note: still running: " + line.detail);
          },
          {}};
}

ProgressNotes::ProgressNotes(ProgressOutput output)
    : progress_("simulating", "", std::move(output), [this] { return detail(); }) {}

std::string ProgressNotes::detail() const {
  const Duration offset = offset_.load(std::memory_order_relaxed);
  if (offset < 0) return {};
  return fmt::format("{} of virtual time, {} decisions", offset_text(offset),
                     decisions_.load(std::memory_order_relaxed));
}

}  // namespace sluice::host
