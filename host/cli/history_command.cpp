#include <fmt/format.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/time.hpp"
#include "host/base/wall_clock.hpp"
#include "host/cli/command.hpp"
#include "host/cli/connection.hpp"
#include "host/cli/output.hpp"
#include "host/history/text.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kHistoryFooter =
    R"(Of all namespaces where you may list runs there, else of your own. Hours are those for which
quota was held, in the time that was asked for; what was used is known of pods that this host ran
and that have ended, and USED is its part of what those runs held.

--quotas tells what the quotas of ClusterQueues were, and when they were changed; whoever may list
ClusterQueues (or read the one of --cluster-queue) may see it.

Words for --by: user, namespace, queue, clusterQueue, flavor, priorityClass, outcome, reason, and
one of minute, tenMinutes, hour, day, month (UTC).

Examples:
  sluice history
  sluice history --by user,day --since 7d
  sluice history -n team-a --by flavor --since 2026-01-01 --until 2026-02-01 -o csv
  sluice history --runs --user ann
  sluice history --quotas --since 30d --cluster-queue team-a
  sluice history --by clusterQueue -o json | jq '.groups[].heldHours')";

struct HistoryArguments {
  HostOptions host;
  OutputFormat output = OutputFormat::kTable;
  bool runs = false, quotas = false;
  std::string by = "queue", since, until;
  std::string user, queue, cluster_queue, cohort, flavor, after;
  std::int64_t limit = 100;
};

/// 7d, 12h30m, a date, or a time.
Result<std::string> moment_of(const std::string& text, const char* option) {
  std::string written = text;
  if (const auto time = parse_time(text + "T00:00:00Z")) return format_time(*time);
  if (const auto time = parse_time(text)) return format_time(*time);
  if (const std::size_t days = written.find('d'); days != std::string::npos && days < 6) {
    const std::string number = written.substr(0, days);
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos)
      written = std::to_string(std::stoll(number) * 24) + "h" + written.substr(days + 1);
  }
  const auto back = parse_duration(written);
  if (back && *back < wall_clock()) return format_time(wall_clock() - *back);
  return Error{fmt::format(
      "{}: found \"{}\"; allowed: how long ago (7d, 12h), a date (2026-01-31) or an RFC 3339 time",
      option, text)};
}

Result<std::string> query_of(const HistoryArguments& arguments) {
  std::string out;
  const auto add = [&](const char* name, const std::string& value) {
    out += fmt::format("{}{}={}", out.empty() ? "?" : "&", name, percent_encoded(value));
  };
  const std::pair<const char*, const std::string*> texts[] = {
      {"user", &arguments.user},
      {"queue", &arguments.queue},
      {"clusterQueue", &arguments.cluster_queue},
      {"cohort", &arguments.cohort},
      {"flavor", &arguments.flavor}};
  for (const auto& [name, text] : texts)
    if (!text->empty()) add(name, *text);
  const std::tuple<const char*, const char*, const std::string*> times[] = {
      {"from", "--since", &arguments.since}, {"to", "--until", &arguments.until}};
  for (const auto& [name, option, text] : times) {
    if (text->empty()) continue;
    const auto moment = moment_of(*text, option);
    if (!moment) return moment.error();
    add(name, *moment);
  }
  if (arguments.quotas) return out;
  if (!arguments.runs) {
    add("groupBy", arguments.by);
    return out;
  }
  add("limit", std::to_string(arguments.limit));
  if (!arguments.after.empty()) add("continue", arguments.after);
  return out;
}

Result<json::object> ask(const Client& client, const std::string& ns, const std::string& query) {
  const std::string place = ns.empty() ? "" : "/namespaces/" + percent_encoded(ns);
  return client.call("GET", "/apis/sluice.dev/v1alpha1" + place + "/runs" + query);
}

/// Of all namespaces, or of one's own where all are not to be seen.
Result<json::object> ask_widely(const Client& client, const std::string& query) {
  const std::string& own = client.config().ns;
  const auto all = client.request("GET", "/apis/sluice.dev/v1alpha1/runs" + query);
  if (!all) return all.error();
  if (all->status != 403 || own.empty()) return ask(client, {}, query);
  fmt::print(stderr, "warning: only of namespace {}: you may not list runs of all of them\n", own);
  return ask(client, own, query);
}

Result<int> history(const HistoryArguments& arguments) {
  if (!arguments.cohort.empty() && !arguments.quotas)
    return Error{
        fmt::format("--cohort: found \"{}\"; allowed with --quotas only, runs belong to "
                    "ClusterQueues",
                    arguments.cohort)};
  if (arguments.quotas && !arguments.host.ns.empty())
    return Error{
        fmt::format("--namespace: found \"{}\"; allowed with --quotas: none, ClusterQueues "
                    "belong to no namespace",
                    arguments.host.ns)};
  const auto query = query_of(arguments);
  if (!query) return query.error();
  const Result<Client> client = client_of(arguments.host);
  if (!client) return client.error();
  const auto answer = arguments.quotas
                          ? client->call("GET", "/apis/sluice.dev/v1alpha1/quotas" + *query)
                      : arguments.host.ns.empty() ? ask_widely(*client, *query)
                                                  : ask(*client, arguments.host.ns, *query);
  if (!answer) return answer.error();
  if (arguments.output == OutputFormat::kCsv)
    fmt::print("{}", history_csv(*answer));
  else
    fmt::print("{}", printed(*answer, arguments.output, [&] { return history_table(*answer); }));
  return 0;
}

}  // namespace

void add_history_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* command =
      app.add_subcommand("history", "Sum up what ran: waits, runs, evictions, hours held and used");
  add_host_options(*command, arguments->host, "Only this namespace (default: all)");
  const auto text = [&](const char* name, std::string& into, const char* about, const char* type) {
    return command->add_option(name, into, about)->type_name(type);
  };
  CLI::Option* by = text("--by", arguments->by, "What to group by (default: queue)", "WORD,WORD…");
  CLI::Option* runs =
      command->add_flag("--runs", arguments->runs, "The runs themselves, the newest first")
          ->excludes(by);
  CLI::Option* quotas =
      command->add_flag("--quotas", arguments->quotas, "What the quotas of ClusterQueues were")
          ->excludes(by)
          ->excludes(runs);
  text("--since", arguments->since, "From then on: 7d, 12h, a date or a time", "WHEN");
  text("--until", arguments->until, "Up to then, which is not included", "WHEN");
  text("--user", arguments->user, "Only what this user created", "NAME")->excludes(quotas);
  text("--queue,-q", arguments->queue, "Only of LocalQueues of this name", "NAME")
      ->excludes(quotas);
  text("--cluster-queue", arguments->cluster_queue, "Only of this ClusterQueue", "NAME");
  text("--cohort", arguments->cohort, "With --quotas: those of this Cohort, or * of all", "NAME");
  text("--flavor", arguments->flavor, "Only what was held of this flavor", "NAME")
      ->excludes(quotas);
  command->add_option("--limit", arguments->limit, "Of --runs: so many (default: 100)")
      ->check(CLI::Range(1, 5'000))
      ->type_name("N");
  text("--continue", arguments->after, "Of --runs: those after the last answer", "N");
  add_output_option(*command, arguments->output,
                    "table (default; the same as text), json, yaml or csv", true);
  command->footer(kHistoryFooter);
  command->callback([arguments, &action] {
    action = [arguments]() -> Result<int> { return history(*arguments); };
  });
}

}  // namespace sluice::host
