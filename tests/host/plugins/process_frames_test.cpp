// The framing of plugins in a process of their own: what is a frame, what is a message, and what is
// said of what is neither.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <boost/json.hpp>
#include <string>

#include "host/plugins/process/frames.hpp"
#include "host/plugins/process/messages.hpp"

namespace sluice::host {
namespace {

std::string framed(std::string_view body) {
  std::string out;
  append_frame(body, out);
  return out;
}

TEST(ProcessFrames, ABodyHasItsLengthInFront) {
  EXPECT_EQ(framed("{}"), std::string("\x02\0\0\0{}", 6));
  EXPECT_EQ(framed(std::string(258, 'x')).substr(0, 4), std::string("\x02\x01\0\0", 4));
}

TEST(ProcessFrames, ComeOutWholeWhateverThePieces) {
  const std::string stream = framed("one") + framed("two") + framed("three");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader;
    std::string all;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.add(std::string_view(stream).substr(at, piece));
      for (auto frame = reader.next(); frame.ok() && frame->has_value(); frame = reader.next())
        all += **frame + ";";
    }
    EXPECT_EQ(all, "one;two;three;") << piece;
    EXPECT_EQ(reader.cut(), 0u);
  }
}

TEST(ProcessFrames, ALengthThatIsNotAllowedIsRefusedBeforeTheBodyComes) {
  FrameReader empty;
  empty.add(std::string_view("\0\0\0\0", 4));
  EXPECT_EQ(empty.next().error().text, "a frame without a body");
  FrameReader too_large;
  too_large.add(std::string_view("\x01\0\0\1", 4));  // 2^24 + 1
  EXPECT_EQ(too_large.next().error().text,
            "a frame of 16777217 bytes; at most 16777216 are allowed");
}

TEST(ProcessFrames, ASocketSaysHowItEnded) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  FrameSocket ours(ends[0]);
  const auto at_once = FrameSocket::Deadline{};
  {
    const FrameSocket theirs(ends[1]);
    EXPECT_FALSE(ours.receive(at_once)->has_value());
    const std::string stream = framed("whole") + framed("cut").substr(0, 6);
    ASSERT_EQ(::send(theirs.fd(), stream.data(), stream.size(), 0), ssize_t(stream.size()));
  }
  EXPECT_EQ(**ours.receive(at_once), "whole");
  EXPECT_EQ(ours.receive(at_once).error().text,
            "the connection has ended inside a frame, 6 bytes into it");
  EXPECT_EQ(ours.send("{}", at_once).error().text, "the connection has ended");
}

TEST(ProcessFrames, WhoDoesNotReadIsNotWaitedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  FrameSocket ours(ends[0]);
  const FrameSocket theirs(ends[1]);
  const std::string large(kFrameBytes, 'x');
  EXPECT_EQ(ours.send(large, FrameSocket::Deadline{}).error().text,
            "it does not read what it is sent");
}

TEST(ProcessMessages, AreReadByTheirSubject) {
  const auto answer = parse_message(R"({"answer":7,"failed":"no"})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->type, Message::Type::kAnswer);
  EXPECT_EQ(answer->number, 7u);
  const auto request = parse_message(R"({"request":1,"service":"objects.get","more":{}})");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->name, "objects.get");
  const auto note = parse_message(R"({"note":"log","text":"x"})");
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note->name, "log");
  const auto hello = parse_message(R"({"hello":{"protocol":1}})");
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(boost::json::serialize(hello->body), R"({"protocol":1})");
}

TEST(ProcessMessages, WhatIsNoneIsSaid) {
  struct {
    const char* frame;
    const char* wrong;
  } const cases[] = {
      {"[]", "a message that is no JSON object"},
      {"{}", "a message that is none of hello, call, answer, request, reply and note"},
      {R"({"answer":1,"note":"log"})", "a message that is both answer and note"},
      {R"({"answer":"1"})", "a message whose answer is no number from 1 on"},
      {R"({"answer":0})", "a message whose answer is no number from 1 on"},
      {R"({"answer":1.5})", "a message whose answer is no number from 1 on"},
      {R"({"request":1})", "a message whose service is no name"},
      {R"({"note":""})", "a message whose note is no name"},
      {R"({"hello":1})", "a message whose hello is no object"},
  };
  for (const auto& each : cases)
    EXPECT_EQ(parse_message(each.frame).error().text, each.wrong) << each.frame;
  for (const char* frame : {"", "{", "{\"note\":\"\xff\"}", R"({"note":"log"} {})", "\x01\x02"})
    EXPECT_TRUE(parse_message(frame).error().text.starts_with("a message that is no JSON: "))
        << frame << ": " << parse_message(frame).error().text;
}

TEST(ProcessMessages, AreWrittenMemberByMember) {
  api::JsonMembers members;
  members.text("why", "a \"b\"").document("object", R"({"a":1})").document("old", "");
  api::JsonMembers all;
  all.number("call", 3).boolean("simulated", true).members(members).members({});
  EXPECT_EQ(all.take(),
            R"({"call":3,"simulated":true,"why":"a \"b\"","object":{"a":1},"old":null})");
  EXPECT_EQ(api::JsonMembers().take(), "{}");
}

}  // namespace
}  // namespace sluice::host
