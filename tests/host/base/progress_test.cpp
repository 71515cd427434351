// How far work has come, as a line; and that it is told from a thread of its own.
#include "host/base/progress.hpp"

#include <gtest/gtest.h>

#include <future>

namespace sluice::host {
namespace {

TEST(ProgressText, SaysWhatIsKnown) {
  struct Case {
    ProgressLine line;
    const char* expected;
  };
  for (const Case& each : {
           Case{{"reading", "objects", 0, 0, ""}, "reading"},
           Case{{"reading", "objects", 1234, 0, ""}, "reading  1,234 objects"},
           Case{{"reading", "objects", 0, 40, ""},
                "reading  [                    ]   0 %  0 of 40 objects"},
           // 30 of 40: 15 of 20 marks
           Case{{"reading", "objects", 30, 40, ""},
                "reading  [###############     ]  75 %  30 of 40 objects"},
           Case{{"reading", "", 1, 3, "slowly"}, "reading  [######              ]  33 %  slowly"},
           // more than was expected
           Case{{"reading", "objects", 1000000, 999999, ""},
                "reading  [####################] 100 %  999,999 of 999,999 objects"},
       })
    EXPECT_EQ(progress_text(each.line, 80), each.expected);
}

TEST(ProgressText, IsNoWiderThanTheTerminal) {
  EXPECT_EQ(progress_text({"reading", "objects", 30, 40, ""}, 12), "reading  [##");
  EXPECT_EQ(progress_text({"reading", "objects", 30, 40, ""}, 0), "");
}

TEST(Progress, TellsWhatWasCountedMeanwhileAndThenEnds) {
  std::promise<ProgressLine> told;
  bool done = false;  // the progress's thread only
  bool ended = false;
  {
    Progress progress("reading", "objects",
                      ProgressOutput{std::chrono::milliseconds(1),
                                     [&](const ProgressLine& line) {
                                       if (done || line.done < 5 || line.total < 9) return;
                                       done = true;
                                       told.set_value(line);
                                     },
                                     [&] { ended = true; }},
                      [] { return std::string("detail"); });
    progress.expect(9);
    progress.add(4);
    progress.add();
    const ProgressLine line = told.get_future().get();
    EXPECT_EQ(line.done, 5U);
    EXPECT_EQ(line.total, 9U);
    EXPECT_EQ(line.detail, "detail");
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

TEST(Progress, WithoutATerminalItIsSilent) {
  testing::internal::CaptureStderr();  // a file
  EXPECT_FALSE(progress_terminal());
  { Progress("reading", "objects").add(7); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace sluice::host
