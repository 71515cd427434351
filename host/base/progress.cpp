#include "host/base/progress.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kBar = 20;
constexpr auto kBetween = std::chrono::milliseconds(300);  // and until the first

std::string grouped(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, ",");
  return out;
}

std::size_t columns_of_terminal() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_text(const ProgressLine& line, std::size_t columns) {
  std::string out = line.what;
  const std::uint64_t done = line.total > 0 ? std::min(line.done, line.total) : line.done;
  if (line.total > 0) {
    const double part = static_cast<double>(done) / static_cast<double>(line.total);
    const auto marks = static_cast<std::size_t>(part * kBar);
    out += fmt::format("  [{}{}] {:>3} %", std::string(marks, '#'), std::string(kBar - marks, ' '),
                       static_cast<int>(part * 100));
  }
  if (!line.unit.empty() && (done > 0 || line.total > 0))
    out += fmt::format("  {}{} {}", grouped(done),
                       line.total > 0 ? " of " + grouped(line.total) : std::string(), line.unit);
  if (!line.detail.empty()) out += "  " + line.detail;
  if (out.size() > columns) out.resize(columns);
  return out;
}

std::optional<ProgressOutput> progress_terminal() {
  if (::isatty(STDERR_FILENO) == 0) return std::nullopt;
  return ProgressOutput{kBetween,
                        [](const ProgressLine& line) {
                          // The last column would make the terminal begin another line.
                          show_below_log(progress_text(line, columns_of_terminal() - 1));
                        },
                        [] { show_below_log(""); }};
}

Progress::Progress(std::string what, std::string unit)
    : Progress(std::move(what), std::move(unit), progress_terminal()) {}

Progress::Progress(std::string what, std::string unit, std::optional<ProgressOutput> output,
                   Detail detail)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      output_(std::move(output)),
      detail_(std::move(detail)) {
  if (output_) thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  if (!output_) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ended_.notify_one();
  thread_.join();
  if (output_->end) output_->end();
}

void Progress::run() {
  pthread_setname_np(pthread_self(), "progress");
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, output_->every, [this] { return stopping_; }))
    output_->say({what_, unit_, done_.load(std::memory_order_relaxed),
                  total_.load(std::memory_order_relaxed), detail_ ? detail_() : std::string()});
}

}  // namespace sluice::host
