#include "host/plugins/trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>

#include "api/json/json.hpp"
#include "host/base/files.hpp"
#include "host/plugins/call_board.hpp"
#include "host/plugins/crash_note.hpp"
#include "host/plugins/plugin_set.hpp"
#include "host/plugins/text_gate.hpp"
#include "host/plugins/watchdog.hpp"

extern char** environ;

namespace sluice::host {

namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

std::string request_of(const std::filesystem::path& directory,
                       const std::vector<PluginConfig>& plugins) {
  json::array all;
  for (const PluginConfig& plugin : plugins)
    if (plugin.enabled && !plugin.process)
      all.push_back(json::object{{"name", plugin.name},
                                 {"keys", json::value_from(plugin.trust.keys)},
                                 {"signed", plugin.trust.require},
                                 {"closed", plugin.failure_policy == FailurePolicy::kClosed},
                                 {"sha256", plugin.sha256},
                                 {"config", plugin.config_json},
                                 {"host", plugin.host_json}});
  return json::serialize(json::object{{"directory", directory.string()}, {"plugins", all}});
}

/// Two ends of a pipe, closed at the end.
struct Pipe {
  Pipe() { ok = ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends{-1, -1};
  bool ok = false;
};

pid_t start(const std::filesystem::path& program, const Pipe& in, const Pipe& out) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::array<const char*, 4> arguments = {"sluice", "plugin", "try", nullptr};
  pid_t child = -1;
  const int error = ::posix_spawn(&child, program.c_str(), &files, &attributes,
                                  const_cast<char* const*>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  errno = error;
  return error == 0 ? child : -1;
}

/// The end of what it says, until it says nothing more; false: it does not come to an end.
bool read_all(int fd, Clock::time_point until, std::string& text) {
  constexpr std::size_t kKept = 64 << 10;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    const int n = ::poll(&ready, 1, static_cast<int>(left));
    if (n < 0 && errno != EINTR) return true;
    if (n <= 0) continue;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kKept) text.erase(0, text.size() - kKept);
  }
}

/// The last line that has `mark` in it, from there on; empty without one.
std::string line_with(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == text.npos) return {};
  return shown_text(text.substr(at, text.find('\n', at) - at));
}

// What the other side says: why it does not go, what it is about to do, and as its last act that it
// came to its end. A status alone says nothing: a plugin may end the process with any.
constexpr std::string_view kResult = "trial: ";
constexpr std::string_view kStage = "trial at: ";
constexpr std::string_view kDone = "\ntrial over\n";

Error failure(std::string_view said, bool in_time, int status) {
  if (in_time && WIFEXITED(status) && !line_with(said, kResult).empty())
    return Error{line_with(said, kResult).substr(kResult.size())};
  const std::string stage = line_with(said, kStage);
  if (!stage.empty()) said.remove_prefix(said.rfind(kStage) + kStage.size());
  std::string where = line_with(said, "inside plugin ");
  if (where.empty()) where = line_with(said, "plugin ");  // which is loaded, or which hangs in what
  if (where.empty() && !stage.empty()) where = stage.substr(kStage.size());
  std::string how = "did not come to an end";
  if (in_time && WIFSIGNALED(status))
    how = fmt::format("died of signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  else if (in_time)
    how = fmt::format("ended with status {} before it had come to its end", WEXITSTATUS(status));
  return Error{fmt::format("the plugins were tried in a process of their own, which {}{}{}", how,
                           where.empty() ? "" : ": ", where)};
}

void tell_stage(std::string_view stage) {
  static_cast<void>(write_all(STDOUT_FILENO, fmt::format("{}{}\n", kStage, stage)));
}

/// Stands still, and says that nothing outside is real.
class TrialClock final : public PluginClock {
 public:
  Time now() const override { return 0; }
  Duration steady() const override { return 0; }
  bool is_virtual() const override { return true; }
};

}  // namespace

Result<void> try_plugins(const std::filesystem::path& directory,
                         const std::vector<PluginConfig>& plugins,
                         std::chrono::milliseconds timeout, const std::filesystem::path& program) {
  const bool any = std::any_of(plugins.begin(), plugins.end(), [](const PluginConfig& plugin) {
    return plugin.enabled && !plugin.process;
  });
  if (!any) return {};
  Pipe in;
  Pipe out;
  const pid_t child = in.ok && out.ok ? start(program, in, out) : -1;
  if (child < 0)
    return Error{program.string() +
                 " does not start for a trial of the plugins: " + std::strerror(errno)};
  in.close(0);
  out.close(1);
  // Where it died meanwhile, its answer says how.
  static_cast<void>(write_all(in.ends[1], request_of(directory, plugins)));
  in.close(1);
  std::string said;
  const bool in_time = read_all(out.ends[0], Clock::now() + timeout, said);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool done = said.find(kDone) != said.npos;
  if (in_time && done && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return failure(said, in_time, status);
}

Result<void> run_trial() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string text((std::istreambuf_iterator<char>(std::cin)),
                         std::istreambuf_iterator<char>());
  boost::system::error_code error;
  const json::value request = api::parse_deep(text, error);
  const json::object* object = error ? nullptr : request.if_object();
  const json::value* listed = object == nullptr ? nullptr : api::find(*object, "plugins");
  if (listed == nullptr || !listed->is_array())
    return Error{"this command is for the host itself: it tries plugins before it loads them"};
  const TrialClock clock;
  PluginSetConfig config;
  config.directory = std::string(api::find_text(*object, "directory"));
  config.clock = &clock;
  config.log = [](int, std::string_view, std::string_view) {};
  config.loading = [](std::string_view plugin) { tell_stage(fmt::format("plugin {}", plugin)); };
  for (const json::value& each : listed->get_array()) {
    const json::object& from = each.as_object();
    PluginConfig plugin;
    plugin.name = api::find_text(from, "name");
    plugin.enabled = true;
    plugin.failure_policy =
        from.at("closed").as_bool() ? FailurePolicy::kClosed : FailurePolicy::kOpen;
    plugin.sha256 = api::find_text(from, "sha256");
    plugin.config_json = api::find_text(from, "config");
    plugin.host_json = api::find_text(from, "host");
    plugin.trust.keys = json::value_to<std::vector<std::string>>(from.at("keys"));
    plugin.trust.require = from.at("signed").as_bool();
    config.plugins.push_back(std::move(plugin));
  }
  if (auto notes = start_crash_notes({}); !notes) return notes.error();
  const Watchdog watchdog;
  auto set = PluginSet::load(config);
  std::string wrong = set ? "" : set.error().text;
  tell_stage("the end of their instances");
  set = Error{"over"};  // destroys the instances
  if (wrong.empty() && !write_all(STDOUT_FILENO, kDone)) wrong = "its output cannot be written";
  if (wrong.empty()) return {};
  fmt::print("{}{}\n", kResult, wrong);
  return Error{wrong};
}

}  // namespace sluice::host
