#include "host/simulate/job_warnings.hpp"

#include <fmt/format.h>

namespace sluice::host {

void JobWarnings::emit(const EventNote& event) {
  if (!event.warning || !event.about.kind->job) return;
  const std::string job = fmt::format("{} {}", event.about.kind->kind, event.about.key);
  if (!told_.emplace(job, event.message).second) return;
  if (told_.size() > kMost)
    ++left_out_;
  else
    tell_(fmt::format("warning: {}: {}: {}\n", job, event.reason, event.message));
}

void JobWarnings::finish() {
  if (left_out_ > 0) tell_(fmt::format("warning: {} more like these about jobs\n", left_out_));
  left_out_ = 0;
}

}  // namespace sluice::host
