#include "host/executor/process/line_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sluice::host {

LineLog::LineLog(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::create_directories(path.parent_path(), problem);
  file_ = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

void LineLog::write(Stream stream, std::string_view bytes, Time now) {
  std::string& partial = partial_[static_cast<std::size_t>(stream)];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t room = kMaxLine - partial.size();
    if (end != std::string_view::npos && end <= room) {
      partial.append(bytes.substr(0, end));
      put(stream, partial, true, now);
      partial.clear();
      bytes.remove_prefix(end + 1);
      continue;
    }
    const std::size_t taken = std::min(room, bytes.size());
    partial.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (partial.size() < kMaxLine) break;
    put(stream, partial, false, now);
    partial.clear();
  }
  flush();
}

void LineLog::finish(Stream stream, Time now) {
  std::string& partial = partial_[static_cast<std::size_t>(stream)];
  if (partial.empty()) return;
  put(stream, partial, false, now);
  partial.clear();
  flush();
}

void LineLog::put(Stream stream, std::string_view text, bool whole, Time now) {
  out_ += log_stamp(now);
  out_ += stream == Stream::kOut ? " stdout " : " stderr ";
  out_ += whole ? "F " : "P ";
  out_ += text;
  out_ += '\n';
}

void LineLog::flush() {
  std::string_view rest = out_;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      ++lost_;
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  out_.clear();
}

std::optional<LogLine> parse_log_line(std::string_view line) {
  // stamp, space, stream, space, mark, space, text
  const std::size_t stamp_end = line.find(' ');
  if (stamp_end == std::string_view::npos) return std::nullopt;
  LogLine out;
  out.stamp = line.substr(0, stamp_end);
  const std::optional<Time> time = parse_time(out.stamp);
  if (!time) return std::nullopt;
  out.time = *time;
  std::string_view rest = line.substr(stamp_end + 1);
  if (!rest.starts_with("stdout ") && !rest.starts_with("stderr ")) return std::nullopt;
  rest.remove_prefix(7);
  if (!rest.starts_with("F ") && !rest.starts_with("P ")) return std::nullopt;
  out.whole = rest.front() == 'F';
  out.text = rest.substr(2);
  return out;
}

std::string log_stamp(Time time) {
  const Time fraction = ((time % kSecond) + kSecond) % kSecond;
  std::string out = format_time(time - fraction);  // ends in Z
  std::string digits = std::to_string(fraction);
  digits.insert(0, 9 - digits.size(), '0');
  out.insert(out.size() - 1, "." + digits);
  return out;
}

}  // namespace sluice::host
