#include "host/base/log.hpp"

#include <fmt/format.h>
#include <spdlog/details/console_globals.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"
#include "host/base/line_budget.hpp"
#include "host/base/steady_clock.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr std::string_view kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

std::atomic<bool> json_lines{false};

std::mutex below_mutex;                // held while something is written with a line below it
std::string below;                     // guarded by below_mutex
std::atomic<bool> shown_below{false};  // whether there is one, or was

/// Writes to standard error what `write` writes there, above the line that stays below.
template <typename F>
void write_above(F&& write) {
  if (!shown_below) return write();
  const std::lock_guard lock(below_mutex);
  if (!below.empty()) std::fputs("\r\x1b[K", stderr);
  write();
  if (!below.empty()) std::fputs(below.c_str(), stderr);
}

std::string pattern() { return std::string(json_lines ? kJsonPattern : kTextPattern); }

/// The lines of this thread's LogBatch.
struct Batch {
  std::unique_ptr<spdlog::formatter> formatter;
  spdlog::memory_buf_t lines;
};
thread_local std::unique_ptr<Batch> batch;

spdlog::level::level_enum spd(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> made = [] {
    auto out = spdlog::stderr_logger_mt("sluice");
    out->set_pattern(pattern(), spdlog::pattern_time_type::utc);
    out->flush_on(spdlog::level::debug);
    return out;
  }();
  return *made;
}

std::string in_quotes(std::string_view text) {
  std::string out;
  if (find_bad_utf8(text) == std::string_view::npos)
    api::append_json_text(text, out);
  else
    api::append_json_text(clean_utf8(text), out);
  // Those of ASCII are escaped by now; others end lines and turn the text round as well.
  return has_control_characters(out) ? one_line(out, 3 * out.size()) : out;
}

constexpr std::size_t kMostOfALine = std::size_t{64} << 10;

/// What a person reads as it is: nothing that ends a field, and nothing that a terminal obeys.
bool is_plain(std::string_view text) {
  return !text.empty() && text.find_first_of(" \"=") == text.npos &&
         find_bad_utf8(text) == std::string_view::npos && !has_control_characters(text);
}

std::string as_text(std::string_view part, std::string_view message, const LogFields& fields) {
  std::string out = fmt::format("{}: {}", part, one_line(message, kMostOfALine));
  for (const auto& [name, value] : fields) {
    out += fmt::format(" {}={}", name, is_plain(value) ? value : in_quotes(value));
  }
  return out;
}

std::string as_json(std::string_view part, std::string_view message, const LogFields& fields) {
  std::string out = fmt::format(R"("part":{},"message":{})", in_quotes(part), in_quotes(message));
  for (const auto& [name, value] : fields)
    out += fmt::format(",{}:{}", in_quotes(name), in_quotes(value));
  return out;
}

void put_line(LogLevel level, std::string_view part, std::string_view message,
              const LogFields& fields = {}) {
  const std::string text =
      json_lines ? as_json(part, message, fields) : as_text(part, message, fields);
  if (!batch || level >= LogLevel::kWarning)
    return write_above([&] { logger().log(spd(level), text); });
  if (!batch->formatter)
    batch->formatter =
        std::make_unique<spdlog::pattern_formatter>(pattern(), spdlog::pattern_time_type::utc);
  batch->formatter->format({logger().name(), spd(level), text}, batch->lines);
}

constexpr std::string_view kPlugin = "plugin ";  // how the parts of plugins begin

LineBudget& budget() {
  static LineBudget made;
  return made;
}

}  // namespace

void set_log(LogFormat format, LogLevel least) {
  json_lines = format == LogFormat::kJson;
  logger().set_level(spd(least));
  logger().set_pattern(pattern(), spdlog::pattern_time_type::utc);
}

void log(LogLevel level, std::string_view part, std::string_view message, LogFields fields) {
  if (!logger().should_log(spd(level))) return;
  if (!part.starts_with(kPlugin)) return put_line(level, part, message, fields);
  const LineBudget::Answer answer = budget().take(
      fmt::format("{} {}", static_cast<int>(level), part), steady_now() / kMillisecond);
  if (answer.left_out > 0)
    put_line(LogLevel::kWarning, part, "lines of this level were left out of the log",
             {{"lines", std::to_string(answer.left_out)}});
  if (answer.write) put_line(level, part, message, fields);
  if (answer.last)
    put_line(LogLevel::kWarning, part,
             fmt::format("{} lines of one level in {} s: until these are over, more are left out",
                         LineBudget::kLines, LineBudget::kWindowMs / 1000));
}

void show_below_log(std::string_view line) {
  shown_below = true;
  const std::lock_guard lock(below_mutex);
  if (below == line) return;
  below = line;
  std::fputs(("\r" + below + "\x1b[K").c_str(), stderr);
}

void write_above_it(std::string_view text) {
  write_above([text] { std::fwrite(text.data(), 1, text.size(), stderr); });
}

LogBatch::LogBatch() { batch = std::make_unique<Batch>(); }

LogBatch::~LogBatch() {
  const auto ended = std::move(batch);
  if (ended->lines.size() == 0) return;
  write_above([&] {
    logger();  // its sink shares this lock
    const std::lock_guard lock(spdlog::details::console_mutex::mutex());
    std::fwrite(ended->lines.data(), 1, ended->lines.size(), stderr);
  });
}

}  // namespace sluice::host
