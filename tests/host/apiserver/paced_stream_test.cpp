// A stream that is made piece by piece, over a thread and a client that do what the test says.
#include "host/apiserver/paced_stream.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/apiserver/api_fixture.hpp"

namespace sluice::host::test {
namespace {

/// Runs what was posted when it is told to.
class HandThread final : public TaskThread {
 public:
  void post(std::function<void()> task) override { posted.push_back(std::move(task)); }
  void after(std::int64_t, std::function<void()> task) override {
    later.push_back(std::move(task));
  }

  /// One turn: what was posted before it.
  void turn() {
    for (std::size_t left = posted.size(); left > 0; --left) {
      const auto task = std::move(posted.front());
      posted.pop_front();
      task();
    }
  }
  void time_passes() {
    for (auto& task : std::exchange(later, {})) task();
  }

  std::deque<std::function<void()>> posted;
  std::vector<std::function<void()>> later;
};

/// A client that takes what is sent when the test says so.
struct HandClient final : Stream {
  bool write(std::shared_ptr<const std::string> chunk) override {
    sent += *chunk;
    waiting += chunk->size();
    return true;
  }
  std::size_t backlog() const override { return waiting; }
  bool crowded() const override { return others_wait; }
  void on_ready(std::function<void()> call) override { wake = std::move(call); }
  bool open() const override { return here; }
  std::shared_ptr<TaskThread> thread() const override { return on; }

  void take_all() {
    waiting = 0;
    if (wake) wake();
  }

  std::shared_ptr<HandThread> on = std::make_shared<HandThread>();
  std::string sent;
  std::size_t waiting = 0;
  bool here = true, others_wait = false;
  std::function<void()> wake;
};

struct HandExchange final : Exchange {
  const Request& request() const override { return asked; }
  void reply(Reply) override {}
  std::shared_ptr<Stream> stream(int, std::string, Headers) override { return client; }
  void after(std::int64_t, std::function<void()>) override {}

  Request asked;
  std::shared_ptr<HandClient> client = std::make_shared<HandClient>();
};

/// The letters of a text, one for each piece; `.`: nothing yet.
class Letters final : public PacedStream {
 public:
  Letters(CallPtr call, std::string text) : PacedStream(std::move(call)), text_(std::move(text)) {}

 private:
  Progress make(std::string& piece) override {
    const char next = text_[at_++];
    if (next == '.') return Progress::kNotYet;
    piece += next;
    return at_ == text_.size() ? Progress::kEnd : Progress::kMore;
  }

  const std::string text_;
  std::size_t at_ = 0;
};

class PacedStreamTest : public ApiFixture {
 protected:
  /// A client rests while it has not taken `most` bytes.
  std::weak_ptr<PacedStream> begin(const std::string& text, std::size_t most = 100) {
    ApiLimits limits;
    limits.stream_bytes = most;
    attachment = std::make_shared<Attachment>(backend(), limits);
    auto call = std::make_shared<Call>();
    call->exchange = exchange;
    call->at = attachment;
    auto letters = std::make_shared<Letters>(std::move(call), text);
    letters->start("text/plain");
    return letters;
  }
  HandClient& client() const { return *exchange->client; }

  std::shared_ptr<HandExchange> exchange = std::make_shared<HandExchange>();
  std::shared_ptr<Attachment> attachment;
};

TEST_F(PacedStreamTest, OthersHaveTheirTurnsAfterAFewPieces) {
  const auto stream = begin("abcdefghij");
  std::vector<std::string> after_turn;
  for (int i = 0; i < 3; ++i) {
    client().on->turn();
    after_turn.push_back(client().sent);
  }
  EXPECT_EQ(after_turn, (std::vector<std::string>{"abcd", "abcdefgh", "abcdefghij"}));
  EXPECT_TRUE(stream.expired()) << "what was sent whole is kept";
}

TEST_F(PacedStreamTest, RestsWhileTheClientHasNotTakenWhatThereIs) {
  const auto stream = begin("abcdef", 2);
  client().on->turn();
  EXPECT_EQ(client().sent, "ab");
  client().take_all();
  EXPECT_EQ(client().sent, "abcd");
  client().take_all();
  EXPECT_EQ(client().sent, "abcdef");
  EXPECT_TRUE(stream.expired());
}

// A client may open thousands of streams and take nothing.
TEST_F(PacedStreamTest, MakesNothingWhileTheConnectionIsCrowded) {
  client().others_wait = true;
  const auto stream = begin("ab");
  client().on->turn();
  client().on->time_passes();
  EXPECT_EQ(client().sent, "");
  client().others_wait = false;
  client().on->time_passes();
  EXPECT_EQ(client().sent, "ab");
}

TEST_F(PacedStreamTest, LooksAgainWhenThereIsNothingYet) {
  const auto stream = begin("a.b");
  client().on->turn();
  client().take_all();  // that the client is ready makes no more of it
  EXPECT_EQ(client().sent, "a");
  client().on->time_passes();
  EXPECT_EQ(client().sent, "ab");
  EXPECT_TRUE(stream.expired());
}

TEST_F(PacedStreamTest, EndsWithItsClient) {
  const auto stream = begin("a.b");
  client().on->turn();
  client().here = false;
  client().take_all();
  client().on->time_passes();
  EXPECT_EQ(client().sent, "a");
  EXPECT_TRUE(stream.expired());
}

TEST_F(PacedStreamTest, EndsWhenTheServerDoes) {
  const auto stream = begin("a.b");
  client().on->turn();
  attachment->close();
  client().on->turn();
  client().on->time_passes();
  EXPECT_EQ(client().sent, "a");
  EXPECT_TRUE(stream.expired());
}

}  // namespace
}  // namespace sluice::host::test
