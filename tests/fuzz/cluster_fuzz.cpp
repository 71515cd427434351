// Answers of an API server: the first byte says what the rest is, a list or the body of a watch in
// pieces. What is taken is what an API server sends, and lines do not depend on the pieces.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.hpp"
#include "host/kube/page.hpp"
#include "host/kube/watch_lines.hpp"

namespace {

std::vector<std::string> lines_in_pieces(std::string_view text, std::size_t size) {
  sluice::host::WatchLines lines(100);
  std::vector<std::string> out;
  while (!text.empty()) {
    const bool more = lines.add(text.substr(0, size), [&](std::string_view line) {
      out.emplace_back(line);
      return true;
    });
    if (!more) break;
    text.remove_prefix(std::min(size, text.size()));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::host;
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'L') {
    const auto page = parse_page(text);
    if (page) SLUICE_CHECK(!page->version.empty());
    message_of(500, text);
    SLUICE_CHECK(ending_of(429, text).retry_after >= 0);
    return 0;
  }
  const auto lines = lines_in_pieces(text, text.size());
  SLUICE_CHECK(lines_in_pieces(text, data[0] % 7 + 1) == lines);
  for (const std::string& line : lines) {
    const auto event = parse_event(line);
    if (event && event->type != WatchEvent::Type::kError) SLUICE_CHECK(!event->version.empty());
  }
  return 0;
}
