#include "host/simulate/progress_notes.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>

namespace sluice::host {
namespace {

/// As where standard error is a file, wherever the test runs.
ProgressOutput without_terminal(ProgressNotes::Say say) {
  testing::internal::CaptureStderr();
  ProgressOutput out = ProgressNotes::output(std::chrono::milliseconds(1), std::move(say));
  testing::internal::GetCapturedStderr();
  return out;
}

/// What is said once `wanted` is: the thread of the notes speaks when it likes.
std::string said(Duration offset, int decisions, const std::string& wanted) {
  std::promise<std::string> line;
  bool done = false;       // the notes' thread only
  ProgressOutput output =  // standard error is no terminal for a while
      without_terminal([&](const std::string& text) {
        if (!done && text.find(wanted) != std::string::npos) line.set_value(text);
        done |= text.find(wanted) != std::string::npos;
      });
  ProgressNotes notes(std::move(output));
  for (int i = 0; i < decisions; ++i) notes.decided();
  if (offset >= 0) notes.reached(offset);
  return line.get_future().get();
}

TEST(ProgressNotes, C8_ALongRunSaysHowFarItIs) {
  EXPECT_EQ(said(-1, 0, "note"), "note: still reading the manifests");
  EXPECT_EQ(said(90 * kSecond, 7, "running"),
            "note: still running: 1m30s of virtual time, 7 decisions");
}

}  // namespace
}  // namespace sluice::host
