#include "host/executor/process/process_id.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

std::string boot_id() {
  std::string text = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::optional<ProcessId> process_with(std::int64_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  // The name, in parentheses, may hold anything; the fields after it start with the state (3).
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
  std::size_t at = name_end + 2;
  const char state = (*text)[at];
  if (state == 'Z' || state == 'X') return std::nullopt;
  for (int field = 3; field < 22; ++field) {  // starttime is field 22
    at = text->find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  ProcessId id{pid, 0, boot_id()};
  std::from_chars(text->data() + at, text->data() + text->size(), id.start_ticks);
  return id;
}

ProcessId this_process() {
  return process_with(::getpid()).value_or(ProcessId{::getpid(), 0, boot_id()});
}

std::string to_text(const ProcessId& process) {
  return boost::json::serialize(boost::json::object{
      {"pid", process.pid}, {"startTicks", process.start_ticks}, {"boot", process.boot}});
}

Result<ProcessId> parse_process_id(std::string_view text) {
  boost::json::error_code problem;
  const boost::json::value value = boost::json::parse(api::json_view(text), problem);
  if (problem || !value.is_object()) return Error{"the owner's record is not a JSON object"};
  const boost::json::object& object = value.get_object();
  ProcessId id;
  id.pid = api::find_int(object, "pid").value_or(0);
  id.start_ticks = api::find_int(object, "startTicks").value_or(0);
  id.boot = api::find_text(object, "boot");
  return id;
}

std::optional<Fd> watch_process(const ProcessId& process) {
  if (process.pid <= 0) return std::nullopt;
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid), 0)));
  if (!fd) return std::nullopt;
  // Looked at after the descriptor was made: the descriptor is of this very process.
  const auto now = process_with(process.pid);
  if (!now || *now != process) return std::nullopt;
  return fd;
}

}  // namespace sluice::host
