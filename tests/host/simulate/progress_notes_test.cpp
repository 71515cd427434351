#include "host/simulate/progress_notes.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace sluice::host {
namespace {

/// What is said once `wanted` is: the thread of the notes speaks when it likes.
std::string said(Duration offset, int decisions, const std::string& wanted) {
  std::promise<std::string> line;
  bool done = false;  // the notes' thread only
  ProgressNotes notes(std::chrono::milliseconds(1), [&](const std::string& text) {
    if (!done && text.find(wanted) != std::string::npos) line.set_value(text);
    done |= text.find(wanted) != std::string::npos;
  });
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
