#include "bench/live/event_stream.hpp"

#include <charconv>

#include "bench/rest/client.hpp"

namespace sluice::bench {

bool EventStream::skip_head() {
  const std::size_t end = raw_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  if (!raw_.starts_with("HTTP/1.1 200")) fail("a watch was answered: " + raw_);
  raw_.erase(0, end + 4);
  in_body_ = true;
  return true;
}

void EventStream::take_chunks() {
  std::size_t at = 0;
  for (;;) {
    const std::size_t line = raw_.find("\r\n", at);
    if (line == std::string::npos) break;
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(raw_.data() + at, raw_.data() + line, size, 16);
    if (error != std::errc() || end != raw_.data() + line || size == 0) fail("a watch has ended");
    const std::size_t begin = line + 2;
    if (raw_.size() < begin + size + 2) break;
    events_.append(raw_, begin, size);
    at = begin + size + 2;
  }
  raw_.erase(0, at);
}

void EventStream::feed(std::string_view bytes) {
  events_.erase(0, begin_);
  begin_ = 0;
  raw_.append(bytes);
  if (in_body_ || skip_head()) take_chunks();
}

std::string_view EventStream::next() {
  const std::size_t end = events_.find('\n', begin_);
  if (end == std::string::npos) return {};
  const std::string_view out = std::string_view(events_).substr(begin_, end - begin_);
  begin_ = end + 1;
  return out;
}

}  // namespace sluice::bench
