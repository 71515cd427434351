#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/simulate/run.hpp"

namespace sluice::host {
namespace {

constexpr const char* kSimulateFooter =
    R"(Input: objects of kueue.x-k8s.io (v1beta1 and v1beta2), Namespaces and PriorityClasses, and
documents of kind Timeline with what happens when. The last line of stdout is always a Summary in
JSON.

Examples:
  sluice simulate examples/quickstart
      tell the story of the quick start
  sluice simulate --log decisions.jsonl --states cluster.yaml trace.json
      write the decision log of a trace on top of a cluster's manifests
  kubectl get -A -o yaml \
      clusterqueues,localqueues,cohorts,resourceflavors,workloads,jobs,namespaces > now.yaml
  sluice simulate now.yaml what-if.yaml
      ask what a change would do to a live cluster
  sluice simulate --until 1h --dump after-1h.yaml cluster.yaml trace.json
      stop after an hour of virtual time and keep the state, to go on from there
  sluice simulate --log before.log cluster.yaml trace.json
  sluice simulate --report report.html --against before.log changed.yaml trace.json
      pictures of what a change of the cluster would change)";

constexpr int kEndlessStatus = 3;  // 1 is a mistake in the input, 2 one in the arguments

struct SimulateArguments {
  SimulateOptions options;
  std::string until;
  int threads = 0;
  int max_file_mib = 64;
};

SimulateOptions options_of(const CLI::App& command, const SimulateArguments& arguments) {
  SimulateOptions options = arguments.options;
  if (command.count("--until") > 0) options.until = parse_duration(arguments.until);
  if (command.count("--threads") > 0) options.threads = arguments.threads;
  options.max_file_bytes = static_cast<std::size_t>(arguments.max_file_mib) << 20;
  for (std::string& path : options.paths)
    if (path == "-") path = "/dev/stdin";
  return options;
}

using Outputs = std::array<std::pair<const char*, std::string>, 3>;

Outputs outputs_of(const SimulateOptions& options) {
  return {{{"--log", options.log}, {"--dump", options.dump}, {"--report", options.report}}};
}

void refuse_shared_outputs(const Outputs& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (const auto& [option, path] = outputs[i]; !path.empty() && path == outputs[k].second)
        throw CLI::ValidationError(
            option, fmt::format("{} is that of {}; name another file", path, outputs[k].first));
}

/// What is written is none of what is read: `--log a.yaml b.yaml` would cost a manifest.
void refuse_to_overwrite(const SimulateOptions& options) {
  std::vector<std::string> read = options.paths;
  for (const std::string& more : {options.config_file, options.against})
    if (!more.empty()) read.push_back(more);
  for (const auto& [option, path] : outputs_of(options))
    for (const std::string& other : read) {
      std::error_code not_there;
      if (!path.empty() && std::filesystem::equivalent(path, other, not_there))
        throw CLI::ValidationError(option, path + " is read as well; name another file");
    }
}

}  // namespace

void add_simulate_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Run the scheduler on manifests under a virtual clock and tell what it decides");
  command
      ->add_option("PATH", arguments->options.paths,
                   "Files or folders of YAML or JSON manifests, in any order; - for standard input")
      ->required();
  command->add_option("--config", arguments->options.config_file, "Configuration file")
      ->type_name("FILE");
  add_plugins_option(*command, arguments->options.plugins, "Load");
  command->add_option("--until", arguments->until, "Stop after this much virtual time")
      ->type_name("DURATION")
      ->check(check_duration);
  command
      ->add_option("--log", arguments->options.log,
                   "Write the decision log (JSON Lines) here, - for stdout, instead of the story")
      ->type_name("FILE|-");
  command->add_flag("--states", arguments->options.states,
                    "Also the state of every workload at the end of each instant");
  command
      ->add_option("--dump", arguments->options.dump,
                   "Write all objects with their status here, as input for another simulation")
      ->type_name("FILE");
  command
      ->add_option("--report", arguments->options.report,
                   "Write pictures of the run here: one HTML file that opens anywhere")
      ->type_name("FILE");
  command
      ->add_option("--against", arguments->options.against,
                   "Compare the report with another run: its decision log, as --log writes it")
      ->type_name("FILE");
  command
      ->add_option("--threads", arguments->threads,
                   "Worker threads; 0: all cores (never changes a decision)")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  command->add_option("--max-file-mib", arguments->max_file_mib, "Refuse larger files (default 64)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command->footer(kSimulateFooter);
  command->callback([command, arguments, &action] {
    if (arguments->options.dump == "-")
      throw CLI::ValidationError("--dump", "stdout belongs to the story and the log; name a file");
    if (arguments->options.report == "-")
      throw CLI::ValidationError("--report",
                                 "stdout belongs to the story and the log; name a file");
    refuse_shared_outputs(outputs_of(arguments->options));
    refuse_to_overwrite(arguments->options);
    if (!arguments->options.against.empty() && arguments->options.report.empty())
      throw CLI::ValidationError("--against",
                                 "compares a report with another run; add --report FILE");
    action = [options = options_of(*command, *arguments)]() -> Result<int> {
      const auto end = run_simulation(options);
      if (!end) return end.error();
      return *end == SimulationEnd::kEndless ? kEndlessStatus : 0;
    };
  });
}

}  // namespace sluice::host
