// Questions one at a time on a thread of their own: what becomes of those that fail.
#include "host/apiserver/question_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>

namespace sluice::host {
namespace {

TEST(QuestionThread, AnExceptionEndsTheQuestionAndNotTheThread) {
  QuestionThread thread("test", 4, 4);
  thread.start();
  std::promise<std::string> broken, whole;
  thread.ask("a", [&](const ApiError* refused) {
    if (!refused) throw std::runtime_error("no memory");
    broken.set_value(std::to_string(refused->code));
  });
  thread.ask("a", [&](const ApiError* refused) { whole.set_value(refused ? "refused" : "done"); });
  EXPECT_EQ(broken.get_future().get(), "503");
  EXPECT_EQ(whole.get_future().get(), "done");
}

TEST(QuestionThread, WhatItDoesNotTakeIsRefusedAtOnce) {
  QuestionThread thread("test", 1, 1);  // not started: what it took waits
  std::string first = "waits", second = "waits";
  thread.ask("a", [&](const ApiError* refused) { first = refused ? "refused" : "done"; });
  thread.ask("b", [&](const ApiError* refused) { second = std::to_string(refused->code); });
  EXPECT_EQ(first + " " + second, "waits 429");
}

}  // namespace
}  // namespace sluice::host
