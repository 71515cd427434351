#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "api/json/json.hpp"
#include "host/cli/command.hpp"
#include "host/cli/connection.hpp"
#include "host/cli/explain_watch.hpp"
#include "host/cli/output.hpp"
#include "host/client/explain.hpp"
#include "host/explain/text.hpp"

namespace sluice::host {
namespace {

constexpr const char* kExplainFooter =
    R"(Position in the queue, what each flavor lacks and who holds it, which plugin said no,
and what would have to finish or grow. Workloads of namespaces that you may not read are only
counted.

Examples:
  sluice explain team-a/train-2
  sluice explain -n team-a job/train
  sluice explain --watch team-a/job/train
  sluice explain team-a/job-train-1a2b3 -o json)";

struct ExplainArguments {
  HostOptions host;
  std::string target;
  OutputFormat output = OutputFormat::kTable;
  bool watch = false;
};

/// Between two of them a blank line, of YAML the line between documents; JSON is one line each.
Result<int> watch(const Client& client, const ExplainTarget& target, OutputFormat format) {
  bool first = true;
  return watch_explanation(client, target, [&](const boost::json::object& document) {
    if (!first && format != OutputFormat::kJson)
      fmt::print("{}\n", format == OutputFormat::kYaml ? "---" : "");
    first = false;
    if (format == OutputFormat::kJson)
      fmt::print("{}\n", api::to_json(document));
    else
      fmt::print("{}", printed(document, format, [&] { return explanation_text(document); }));
    std::fflush(stdout);
  });
}

Result<int> explain(const ExplainArguments& arguments) {
  const Result<ExplainTarget> target = parse_explain_target(arguments.target, arguments.host.ns);
  if (!target) return target.error();
  const Result<Client> client = client_of(arguments.host);
  if (!client) return client.error();
  if (arguments.watch) return watch(*client, *target, arguments.output);
  const Result<boost::json::object> document = fetch_explanation(*client, *target);
  if (!document) return document.error();
  fmt::print("{}",
             printed(*document, arguments.output, [&] { return explanation_text(*document); }));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand("explain", "Tell why a workload waits");
  command
      ->add_option("WORKLOAD", arguments->target,
                   "NAMESPACE/WORKLOAD, WORKLOAD, job/NAME, raycluster/NAME, KIND/NAME or "
                   "PLURAL.GROUP/NAME of another kind of job, or one of these after NAMESPACE/")
      ->required();
  add_host_options(*command, arguments->host);
  command->add_flag("--watch,-w", arguments->watch,
                    "Tell again whenever it has changed, until the job has ended");
  add_output_option(*command, arguments->output);
  command->footer(kExplainFooter);
  command->callback([arguments, &action] {
    action = [arguments]() -> Result<int> { return explain(*arguments); };
  });
}

}  // namespace sluice::host
