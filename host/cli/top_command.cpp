#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/cli/connection.hpp"
#include "host/cli/output.hpp"
#include "host/top/terminal.hpp"
#include "host/top/top.hpp"

namespace sluice::host {
namespace {

constexpr const char* kTopFooter =
    R"(On a terminal it goes on until q is pressed and shows every change as it comes; into a pipe
or a file, or with --once or -o, it prints what there is now. What you may not read is left out, and
said. NO_COLOR=1 in the environment turns colours off.

Keys: q quit, tab other table, s other order, r reverse, a everybody or who waits, arrows scroll.

Examples:
  sluice top
  sluice top -n team-a
      the workloads of a namespace, and the queues that its LocalQueues lead to
  sluice top --cohort research --sort use
  sluice top --once --all > now.txt
  sluice top -o json | jq '.workloads[].why')";

struct TopArguments {
  HostOptions host;
  TopQuery query;
  OutputFormat output = OutputFormat::kTable;
  std::string queues, sort = "queue";
  bool once = false;
};

Result<int> top(const TopArguments& arguments) {
  Result<Kubeconfig> config = kubeconfig_of(arguments.host);
  if (!config) return config.error();
  if (!arguments.once && Terminal::usable()) return look_on(std::move(*config), arguments.query);
  const Result<TopGlance> seen = glance(std::move(*config), arguments.query);
  if (!seen) return seen.error();
  for (const std::string& each : seen->missing) fmt::print(stderr, "warning: {}\n", each);
  fmt::print("{}", printed(document_of(seen->view), arguments.output,
                           [&] { return top_text(seen->view, seen->now); }));
  return 0;
}

}  // namespace

void add_top_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<TopArguments>();
  CLI::App* command = app.add_subcommand("top", "Show queues and who waits, live");
  add_host_options(*command, arguments->host, "Only this namespace (default: all)");
  command->add_option("--queue,-q", arguments->queues, "Only these ClusterQueues")
      ->type_name("NAME,NAME…");
  command->add_option("--cohort", arguments->query.cohort, "Only this cohort and those below it")
      ->type_name("NAME");
  command
      ->add_option("--sort", arguments->sort,
                   "queue (default), waiting (most and longest first), use (fullest first) or "
                   "priority")
      ->check(one_of(sort_words()));
  command->add_flag("--reverse", arguments->query.reverse, "The other way round");
  command->add_flag("--all,-a", arguments->query.all, "Also workloads that run or are off");
  command->add_flag("--once", arguments->once, "Print what there is now, and end");
  const CLI::Option* output = add_output_option(*command, arguments->output);
  command->footer(kTopFooter);
  command->callback([arguments, output, &action] {
    arguments->query.ns = arguments->host.ns;
    arguments->query.queues = names_of(arguments->queues);
    arguments->query.sort = sort_of(arguments->sort);
    arguments->once |= output->count() > 0;
    action = [arguments]() -> Result<int> { return top(*arguments); };
  });
}

}  // namespace sluice::host
