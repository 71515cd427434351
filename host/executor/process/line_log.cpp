#include "host/executor/process/line_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace sluice::host {

LineLog::LineLog(const std::filesystem::path& path, LogLimits limits)
    : path_(path), limits_(std::move(limits)) {
  std::error_code problem;
  std::filesystem::create_directories(path.parent_path(), problem);
  open();
}

std::filesystem::path LineLog::earlier(const std::filesystem::path& path) {
  return path.string() + ".1";
}

void LineLog::open() {
  file_ = Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat info {};
  size_ = file_ && ::fstat(file_.get(), &info) == 0 ? info.st_size : 0;
}

void LineLog::rotate() {
  if (::rename(path_.c_str(), earlier(path_).c_str()) == 0) open();
}

// Looked at now and then: a log may go beyond by as much as is written in between.
bool LineLog::has_room() {
  constexpr std::int64_t kBetweenLooks = 64 * 1024;
  if (room_ && unchecked_ > 0) return true;
  unchecked_ = kBetweenLooks;
  room_ = limits_.full.empty() || ::access(limits_.full.c_str(), F_OK) != 0;
  struct statvfs disk {};
  if (room_ && limits_.keep_free > 0 && ::fstatvfs(file_.get(), &disk) == 0)
    room_ = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize) >= limits_.keep_free;
  return room_;
}

// Short lines grow by their stamps: they are written in pieces, so that a budget holds.
void LineLog::write(Stream stream, std::string_view bytes, Time now) {
  constexpr std::size_t kPiece = 16 * 1024;
  std::string& partial = partial_[static_cast<std::size_t>(stream)];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t room = kMaxLine - partial.size();
    if (end != std::string_view::npos && end <= room) {
      partial.append(bytes.substr(0, end));
      put(stream, partial, true, now);
      partial.clear();
      bytes.remove_prefix(end + 1);
      if (out_.size() >= kPiece) flush(now);
      continue;
    }
    const std::size_t taken = std::min(room, bytes.size());
    partial.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (partial.size() < kMaxLine) break;
    put(stream, partial, false, now);
    partial.clear();
  }
  flush(now);
}

void LineLog::finish(Stream stream, Time now) {
  std::string& partial = partial_[static_cast<std::size_t>(stream)];
  if (partial.empty()) return;
  put(stream, partial, false, now);
  partial.clear();
  flush(now);
}

void LineLog::put(Stream stream, std::string_view text, bool whole, Time now) {
  out_ += log_stamp(now);
  out_ += stream == Stream::kOut ? " stdout " : " stderr ";
  out_ += whole ? "F " : "P ";
  out_ += text;
  out_ += '\n';
}

void LineLog::flush(Time now) {
  const auto all = static_cast<std::int64_t>(out_.size());
  if (all == 0) return;
  if (!has_room()) {
    lost_ += out_.size();
    out_.clear();
    return;
  }
  if (limits_.bytes > 0 && size_ > 0 && size_ + all > limits_.bytes / 2) rotate();
  if (lost_ != told_) {
    const std::uint64_t dropped = lost_ - std::exchange(told_, lost_);
    std::string rest = std::exchange(out_, {});
    put(Stream::kErr,
        "sluice: " + std::to_string(dropped) +
            " bytes of output were dropped: there was no room for logs",
        true, now);
    out_ += rest;
  }
  unchecked_ -= all;
  size_ += static_cast<std::int64_t>(out_.size());
  std::string_view rest = out_;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      lost_ += rest.size();
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
