#include "host/executor/logs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <utility>

#include "host/base/files.hpp"
#include "host/executor/process/line_log.hpp"
#include "host/executor/process/run_record.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kBlock = 65536;
constexpr std::size_t kMostScanned = 1 << 20;

struct Tail {
  off_t start = 0;
  std::int64_t lines = 0;  ///< that begin in it
};

/// Where the last `lines` lines of the file start. Reads backwards, each byte once. `last`: its end
/// is the end of a line.
Tail tail_of(int fd, std::int64_t lines, bool last) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  if (lines <= 0) return {info.st_size, 0};
  std::string text;  // from `begin`: what is not counted yet
  std::int64_t found = 0;
  for (off_t begin = info.st_size; begin > 0;) {
    const off_t size = std::min<off_t>(begin, kBlock);
    std::string block(static_cast<std::size_t>(size), '\0');
    const ssize_t n = ::pread(fd, block.data(), block.size(), begin - size);
    if (n != static_cast<ssize_t>(size)) return {begin, found};
    begin -= size;
    text.insert(0, block);
    while (!text.empty()) {
      const std::size_t before =
          text.size() >= 2 ? text.rfind('\n', text.size() - 2) : std::string::npos;
      if (before == std::string::npos && begin > 0) break;  // its start is in an earlier block
      const std::size_t first = before == std::string::npos ? 0 : before + 1;
      const auto line =
          parse_log_line(std::string_view(text).substr(first, text.size() - first - 1));
      // A line of output ends where a line of the file is marked whole, or the file ends.
      if (last || (line && line->whole)) ++found;
      last = false;
      if (found > lines) return {begin + static_cast<off_t>(text.size()), lines};
      text.resize(first);
    }
  }
  return {0, found};
}

Fd open_to_read(const std::filesystem::path& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

bool is_same_file(const Fd& fd, const std::filesystem::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(fd.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// The parts of a log that are there, one after the other, while its writer goes on (LineLog).
class LogParts {
 public:
  explicit LogParts(std::filesystem::path path) : path_(std::move(path)) {
    do {  // again when it was rotated in between
      now_ = open_to_read(path_);
      earlier_ = open_to_read(LineLog::earlier(path_));
    } while (now_ && earlier_ && is_same_file(now_, LineLog::earlier(path_)));
  }

  void skip_to_tail(std::int64_t lines) {
    const Tail tail = now_ ? tail_of(now_.get(), lines, true) : Tail();
    if (now_) ::lseek(now_.get(), tail.start, SEEK_SET);
    if (!earlier_) return;
    const Tail more = tail_of(earlier_.get(), lines - tail.lines, !now_ || tail.lines == 0);
    ::lseek(earlier_.get(), more.start, SEEK_SET);
  }

  /// As read(2); 0 or less: nothing more now.
  ssize_t read(char* to, std::size_t most) {
    if (earlier_) {
      if (const ssize_t n = ::read(earlier_.get(), to, most); n > 0) return n;
      earlier_.reset();
    }
    if (!now_) now_ = open_to_read(path_);
    if (!now_) return 0;
    if (const ssize_t n = ::read(now_.get(), to, most); n > 0) return n;
    if (is_same_file(now_, path_)) return 0;
    // It was rotated: what came before that, then the next part.
    if (const ssize_t n = ::read(now_.get(), to, most); n > 0) return n;
    Fd next = open_to_read(path_);
    if (!next) return 0;
    now_ = std::move(next);
    return ::read(now_.get(), to, most);
  }

 private:
  const std::filesystem::path path_;
  Fd earlier_, now_;
};

class FileReader final : public LogReader {
 public:
  FileReader(RunPaths paths, std::string container, std::int64_t start, const LogQuery& query)
      : paths_(std::move(paths)),
        container_(std::move(container)),
        start_(start),
        query_(query),
        parts_(paths_.log(container_, start_)) {
    if (query_.tail_lines) parts_.skip_to_tail(*query_.tail_lines);
  }

  Progress read(std::string& out, std::size_t most) override {
    const std::size_t first = out.size();
    std::array<char, kBlock> block;
    // Bounded, also when a filter lets nothing through.
    for (std::size_t scanned = 0; out.size() - first < most && scanned < kMostScanned;
         scanned += kBlock) {
      // Asked before the file is: what an ended container wrote is all there.
      const bool ended = !query_.follow || has_ended();
      const ssize_t n = parts_.read(block.data(), block.size());
      if (n <= 0) return ended ? Progress::kEnd : Progress::kWait;
      rest_.append(block.data(), static_cast<std::size_t>(n));
      if (!take_lines(out)) return Progress::kEnd;
    }
    return Progress::kMore;
  }

 private:
  /// False when the limit of bytes is reached.
  bool take_lines(std::string& out) {
    std::size_t at = 0;
    bool room = true;
    for (std::size_t end = 0; room && (end = rest_.find('\n', at)) != std::string::npos;) {
      room = append(std::string_view(rest_).substr(at, end - at), out);
      at = end + 1;
    }
    rest_.erase(0, at);
    return room;
  }

  bool append(std::string_view text, std::string& out) {
    const auto line = parse_log_line(text);
    if (!line || (query_.since && line->time < *query_.since)) return true;
    std::string shown;
    if (query_.timestamps && at_line_start_) shown.append(line->stamp).append(" ");
    shown += line->text;
    if (line->whole) shown += '\n';
    at_line_start_ = line->whole;
    if (!query_.limit_bytes) {
      out += shown;
      return true;
    }
    const std::int64_t left = *query_.limit_bytes - given_;
    const auto size = static_cast<std::size_t>(
        std::clamp<std::int64_t>(left, 0, static_cast<std::int64_t>(shown.size())));
    out.append(shown, 0, size);
    given_ += static_cast<std::int64_t>(size);
    return given_ < *query_.limit_bytes;
  }

  bool has_ended() const {
    const auto text = read_file(paths_.state);
    const Result<RunState> state = text ? parse_run_state(*text) : Result<RunState>(RunState{});
    if (!text || !state || state->ended()) return !starting() || (state && state->ended());
    for (const ContainerState& container : state->containers) {
      if (container.name != container_) continue;
      return container.restarts > start_ || container.now.state == ContainerRun::State::kTerminated;
    }
    return true;
  }
  /// The pod exists and has not said anything yet.
  bool starting() const {
    return ::access(paths_.folder.c_str(), F_OK) == 0 && ::access(paths_.state.c_str(), F_OK) != 0;
  }

  RunPaths paths_;
  std::string container_;
  std::int64_t start_;
  LogQuery query_;
  LogParts parts_;
  std::string rest_;  // a line that is not complete yet
  bool at_line_start_ = true;
  std::int64_t given_ = 0;
};

/// The container that is meant, or why it is not clear.
ApiResult<std::string> choose(const json::object& pod, const LogQuery& query) {
  std::vector<std::string> names;
  std::vector<std::string> initial;
  for_each_object(part(pod, "spec"), "containers", [&](const json::object& container) {
    names.emplace_back(api::find_text(container, "name"));
  });
  for_each_object(part(pod, "spec"), "initContainers", [&](const json::object& container) {
    initial.emplace_back(api::find_text(container, "name"));
  });
  const std::string pod_name(api::find_text(part(pod, "metadata"), "name"));
  if (query.container.empty()) {
    if (names.size() == 1) return names.front();
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
    return bad_request("a container name must be specified for pod " + pod_name +
                       ", choose one of: [" + list + "]");
  }
  for (const auto* all : {&names, &initial}) {
    if (std::find(all->begin(), all->end(), query.container) != all->end()) {
      return query.container;
    }
  }
  return bad_request("container " + query.container + " is not valid for pod " + pod_name);
}

}  // namespace

std::unique_ptr<LogReader> open_log_file(const std::filesystem::path& root, std::string_view uid,
                                         std::string_view container, std::int64_t start,
                                         const LogQuery& query) {
  return std::make_unique<FileReader>(RunPaths(root, uid), std::string(container), start, query);
}

ApiResult<std::unique_ptr<LogReader>> FileLogs::open(const std::string& pod_key,
                                                     const LogQuery& query) const {
  const api::KindInfo* kind = scheme_.find("v1", "Pod");
  if (!kind) return bad_request("this host has no pods");
  const RecordPtr record = store_.get(*kind, pod_key);
  if (!record) return not_found(*kind, split_key(pod_key).name);
  const json::object pod = to_object(*record);
  const ApiResult<std::string> container = choose(pod, query);
  if (!container) return container.error();
  const std::string uid(api::find_text(part(pod, "metadata"), "uid"));
  const std::string name(api::find_text(part(pod, "metadata"), "name"));
  const auto text = read_file(RunPaths(root_, uid).state);
  const Result<RunState> state = text ? parse_run_state(*text) : Result<RunState>(RunState{});
  const ContainerState* found = nullptr;
  for (std::size_t i = 0; state && i < state->containers.size(); ++i) {
    if (state->containers[i].name == *container) found = &state->containers[i];
  }
  if (query.previous) {
    if (!found || found->restarts == 0) {
      return bad_request("previous terminated container \"" + *container + "\" in pod \"" + name +
                         "\" not found");
    }
    return open_log_file(root_, uid, *container, found->restarts - 1, query);
  }
  const bool waiting = !found || found->now.state == ContainerRun::State::kWaiting;
  if (waiting && found && found->restarts > 0) {  // between two runs: what the last one said
    return open_log_file(root_, uid, *container, found->restarts - 1, query);
  }
  if (waiting) {
    return bad_request(
        "container \"" + *container + "\" in pod \"" + name + "\" is waiting to start: " +
        (found && !found->now.reason.empty() ? found->now.reason : "ContainerCreating"));
  }
  return open_log_file(root_, uid, *container, found->restarts, query);
}

}  // namespace sluice::host
