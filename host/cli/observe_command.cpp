#include <fmt/format.h>

#include <memory>
#include <string>

#include "core/base/time.hpp"
#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/cli/output.hpp"
#include "host/observe/compare.hpp"
#include "host/observe/observer.hpp"

namespace sluice::host {
namespace {

constexpr const char* kObserveFooter =
    R"(It only reads: get, list and watch of Kueue's kinds, namespaces, priority classes,
LimitRanges, RuntimeClasses and Jobs.
Without --compare and --dump it answers until it is stopped; point kubectl and sluice explain at the
kubeconfig that it writes.

Exit status of --compare: 0 when Sluice would leave everything as it is, 3 when it would decide
otherwise about something.

Examples:
  sluice observe --compare
      what Sluice would do now with each workload that waits in the cluster of kubectl
  sluice observe --compare -o json --context production
  sluice observe --dump now.yaml && sluice simulate now.yaml what-if.yaml
      ask what a change would do to the cluster
  sluice observe
  sluice explain --kubeconfig sluice-observe.kubeconfig team-a/job-train-1a2b3)";

struct ObserveArguments {
  ObserveOptions options;
  OutputFormat output = OutputFormat::kTable;
  std::string patience = "60s";
};

void add_answer_options(CLI::App& command, ObserveArguments& arguments) {
  ObserveOptions& options = arguments.options;
  add_plugins_option(command, options.plugins, "Decide with");
  command.add_flag("--compare", options.compare,
                   "Print what Sluice would do now with each workload that waits, and end");
  add_output_option(command, arguments.output,
                    "Of --compare: table (default; the same as text), json or yaml");
  command
      .add_option("--dump", options.dump,
                  "Write the cluster's objects here, as input for sluice simulate, and end")
      ->type_name("FILE");
  command
      .add_option("--wait", arguments.patience,
                  "How long the first look at the cluster may take (default 60s)")
      ->type_name("DURATION")
      ->check(check_duration);
}

}  // namespace

void add_observe_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ObserveArguments>();
  CLI::App* command = app.add_subcommand(
      "observe", "Follow a cluster on which Kueue decides, and tell what Sluice would decide");
  ObserveOptions& options = arguments->options;
  add_cluster_options(*command, options.kubeconfig, options.context, options.config_file);
  add_answer_options(*command, *arguments);
  command->add_option("--address", options.address, "Where to answer (default 127.0.0.1:6480)")
      ->type_name("HOST:PORT");
  command
      ->add_option("--write-kubeconfig", options.own_kubeconfig,
                   "Where clients find how to ask it (default sluice-observe.kubeconfig)")
      ->type_name("FILE");
  add_log_options(*command, options.log_format, options.log_level);
  command->footer(kObserveFooter);
  command->callback([command, arguments, &action] {
    ObserveOptions& all = arguments->options;
    if (all.dump == "-") throw CLI::ValidationError("--dump", "name a file");
    all.tell = [arguments](const boost::json::object& document) {
      return printed(document, arguments->output, [&] { return comparison_text(document); });
    };
    all.patience = *parse_duration(arguments->patience);
    // What matters of it is in the answer.
    const bool once = all.compare || !all.dump.empty();
    if (once && command->count("--log-level") == 0) all.log_level = LogLevel::kError;
    action = [arguments] { return run_observer(arguments->options); };
  });
}

}  // namespace sluice::host
