#include "host/base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "core/api/json.hpp"
#include "host/base/utf8.hpp"

namespace sluice::host {
namespace {

std::atomic<bool> json_lines{false};

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
    out->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    out->flush_on(spdlog::level::debug);
    return out;
  }();
  return *made;
}

std::string quoted(std::string_view text) {
  std::string out;
  if (find_bad_utf8(text) == std::string_view::npos)
    api::append_json_text(text, out);
  else
    api::append_json_text(clean_utf8(text), out);
  return out;
}

/// What a person reads as it is: nothing that ends a field, and nothing that a terminal obeys.
bool is_plain(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == 0x7f) return false;
  return !text.empty() && find_bad_utf8(text) == std::string_view::npos;
}

std::string as_text(std::string_view part, std::string_view message, const LogFields& fields) {
  std::string out = fmt::format("{}: {}", part, message);
  for (const auto& [name, value] : fields) {
    out += fmt::format(" {}={}", name, is_plain(value) ? value : quoted(value));
  }
  return out;
}

std::string as_json(std::string_view part, std::string_view message, const LogFields& fields) {
  std::string out = fmt::format(R"("part":{},"message":{})", quoted(part), quoted(message));
  for (const auto& [name, value] : fields)
    out += fmt::format(",{}:{}", quoted(name), quoted(value));
  return out;
}

}  // namespace

void set_log(LogFormat format, LogLevel least) {
  json_lines = format == LogFormat::kJson;
  logger().set_level(spd(least));
  logger().set_pattern(json_lines ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                  : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                       spdlog::pattern_time_type::utc);
}

void log(LogLevel level, std::string_view part, std::string_view message, LogFields fields) {
  if (!logger().should_log(spd(level))) return;
  logger().log(spd(level),
               json_lines ? as_json(part, message, fields) : as_text(part, message, fields));
}

}  // namespace sluice::host
