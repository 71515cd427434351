// What a client sends over a connection of HTTP/2, behind the preface and in pieces whose size the
// first byte says. Requests begin once, are within the limits, and end once; nothing is sent that
// grows with anything but what was sent to us.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "host/apiserver/h2_session.hpp"

namespace {

using namespace sluice;
using namespace sluice::host;

constexpr H2Limits kLimits{8, 2048};
constexpr std::size_t kAnswerBytes = 600;

class Site final : public H2Session::Events {
 public:
  void head(std::int32_t stream, H2Head head, bool complete) override {
    SLUICE_CHECK(stream > 0 && stream % 2 == 1, stream);
    SLUICE_CHECK(open.emplace(stream, 0).second, stream);
    SLUICE_CHECK(open.size() <= kLimits.streams, open.size());
    SLUICE_CHECK(head.too_large || !head.method.empty());
    std::size_t size = head.method.size() + head.target.size();
    for (const auto& [name, value] : head.headers) {
      SLUICE_CHECK(!name.empty() && name.front() != ':', name);
      size += name.size() + value.size();
    }
    SLUICE_CHECK(size <= kLimits.header_bytes, size);
    if (complete) this->complete(stream);
  }
  void body(std::int32_t stream, std::string_view piece) override {
    SLUICE_CHECK(open.count(stream) == 1 && !piece.empty(), stream);
  }
  void complete(std::int32_t stream) override {
    SLUICE_CHECK(open.count(stream) == 1, stream);
    // Some are answered at once, some never: as handlers do that are slow.
    if (stream % 4 == 1) session->answer(stream, 200, {{"X", "y"}}, true, stream % 8 == 1);
  }
  void closed(std::int32_t stream) override { open.erase(stream); }
  H2Session::Part read(std::int32_t stream, std::span<char> into) override {
    std::size_t& sent = open.at(stream);
    const std::size_t size = std::min(into.size(), kAnswerBytes - sent);
    std::fill_n(into.begin(), size, 'x');
    sent += size;
    return {size, sent == kAnswerBytes};
  }

  H2Session* session = nullptr;
  std::map<std::int32_t, std::size_t> open;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > (1U << 16)) return 0;
  Site site;
  H2Session session(site, kLimits, H2Session::Time());
  site.session = &session;
  const std::size_t piece = std::size_t{1} + data[0];
  std::string text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  text.append(reinterpret_cast<const char*>(data + 1), size - 1);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const auto now = H2Session::Time() + std::chrono::milliseconds(at);
    if (!session.feed(std::string_view(text).substr(at, piece), now)) {
      SLUICE_CHECK(session.failure().has_value());
      return 0;
    }
    SLUICE_CHECK(session.take(out, out.size() + (1U << 20)));
    if (session.over()) break;
  }
  // An answer for nine bytes of a request at the least, an acknowledgement for each frame.
  SLUICE_CHECK(out.size() <= 1024 + text.size() * (kAnswerBytes + 200) / 9, out.size());
  session.go_away(H2Code::kNone);
  SLUICE_CHECK(session.take(out, out.size() + (1U << 20)));
  return 0;
}
