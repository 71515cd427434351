#include "host/history/history.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host/base/files.hpp"
#include "host/base/log.hpp"
#include "host/history/query.hpp"

namespace sluice::host {
namespace {

// As many as the estimates draw from, out of what is read in some hundredths of a second.
constexpr std::size_t kLatestRows = 50'000, kTimesOfQueue = 2'000;
// A page of curves asks three, and three more when its user picks another window before they are
// told.
constexpr std::size_t kWaiting = 64, kWaitingPerUser = 16;
// A question sees what was published when it came; on a disk that does not keep up it sees less.
constexpr std::chrono::seconds kCatchUp(2);

}  // namespace

HostHistory::HostHistory(const HistoryConfig& config, const std::string& store_folder,
                         LiveStore& store, const api::Scheme& scheme, std::function<Time()> clock,
                         const std::string& name)
    : clock_(std::move(clock)), thread_("history-ask", kWaiting, kWaitingPerUser) {
  const auto opened = open(config, store_folder, store, scheme, name);
  if (opened) return;
  failure_ = opened.error().text;
  recorder_.reset();
  log(LogLevel::kError, "history", "cannot be opened; the host goes on without it",
      {{"reason", failure_}});
}

HostHistory::~HostHistory() {
  stop();
  recorder_.reset();
  reader_.reset();
  times_.reset();
  lock_.reset();
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

Result<void> HostHistory::open(const HistoryConfig& config, const std::string& store_folder,
                               LiveStore& store, const api::Scheme& scheme,
                               const std::string& name) {
  std::string path = config.path;
  if (path.empty() && store_folder.empty()) {
    const auto temporary = temporary_folder();
    if (!temporary) return temporary.error();
    std::string folder = *temporary / "sluice-history-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr)
      return Error{fmt::format("{}: cannot be made: {}", folder, std::strerror(errno))};
    temporary_ = folder;
    path = temporary_ / "history.db";
  }
  if (path.empty()) path = (std::filesystem::path(store_folder) / "history.db").string();
  // The folder of a store is locked already.
  if (!config.path.empty())
    if (auto locked = lock(path); !locked) return locked;
  auto file = HistoryFile::open(path);
  if (!file) return file.error();
  for (auto* into : {&reader_, &times_}) {
    auto reader = HistoryReader::open(path);
    if (!reader) return reader.error();
    *into = std::move(*reader);
  }
  recorder_ =
      std::make_unique<HistoryRecorder>(std::move(*file), store, scheme, clock_,
                                        HistoryKeep{config.keep_time, config.keep_bytes}, name);
  return {};
}

Result<void> HostHistory::lock(const std::string& path) {
  const std::string file = path + ".lock";
  lock_ = Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) return Error{fmt::format("{}: cannot be made: {}", file, std::strerror(errno))};
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  return Error{fmt::format("{}: another host writes this history; give each one of its own", path)};
}

void HostHistory::start() {
  if (recorder_) recorder_->start();
  thread_.start();
}

void HostHistory::stop() {
  thread_.stop();
  if (recorder_) recorder_->stop();
}

void HostHistory::ask(HistoryRequest request, Done done) {
  const std::string user = request.user;
  thread_.ask(
      user, [this, request = std::move(request), done = std::move(done)](const ApiError* refused) {
        done(refused ? ApiResult<boost::json::value>(*refused) : answer(request));
      });
}

ApiResult<boost::json::value> HostHistory::answer(const HistoryRequest& request) {
  if (!recorder_) return unavailable("there is no history: " + failure_, 60);
  const auto query = parse_query(request.ns, [&](std::string_view name) -> const std::string* {
    const auto found = request.parameters.find(std::string(name));
    return found == request.parameters.end() ? nullptr : &found->second;
  });
  if (!query) return bad_request(query.error().text);
  recorder_->catch_up(kCatchUp);
  auto answer =
      request.quotas ? reader_->quotas(*query) : reader_->answer(*query, to_millis(clock_()));
  if (!answer) return answer.error();
  return boost::json::value(std::move(*answer));
}

std::map<std::string, std::vector<Duration>> HostHistory::run_times() {
  if (!recorder_) return {};
  auto times = times_->run_times(kLatestRows, kTimesOfQueue);
  return times ? std::move(*times) : std::map<std::string, std::vector<Duration>>();
}

std::unique_ptr<HostHistory> history_of_cluster(const HistoryConfig& config, LiveStore& store,
                                                const api::Scheme& scheme,
                                                std::function<Time()> clock) {
  if (!config.enabled || config.path.empty()) return nullptr;
  const std::string name = fmt::format("process {} of {}", ::getpid(), clock());
  return std::make_unique<HostHistory>(config, "", store, scheme, std::move(clock), name);
}

HistoryState HostHistory::state() const {
  if (recorder_) return recorder_->state();
  HistoryState out;
  out.failure = failure_;
  return out;
}

}  // namespace sluice::host
