#include <fmt/format.h>

#include <memory>

#include "host/cli/command.hpp"
#include "host/cli/connection.hpp"
#include "host/cli/output.hpp"
#include "host/client/what_if.hpp"
#include "host/whatif/text.hpp"

namespace sluice::host {
namespace {

constexpr const char* kWhatIfFooter =
    R"(Nothing is written: the host plays its present state on, with the objects as if you had
applied them, and tells who would start on what, who would be evicted for it, what would have to
wait, and until when. Whoever may create or change the objects may ask; workloads of namespaces that
you may not read are only counted.

Examples:
  sluice what-if -f job.yaml
  sluice what-if -n team-a -f job.yaml -o json
  sluice what-if -f quota.yaml                who would start, or be evicted, under other quotas
  sluice what-if --delete -f queue.yaml
  sluice what-if -n team-a --queue main       when each of those that wait there would start
  sluice what-if --clusterqueue shared)";

struct WhatIfArguments {
  WhatIfQuestion question;
  HostOptions host;
  OutputFormat output = OutputFormat::kTable;
  bool no_estimate = false;
};

Result<int> what_if(WhatIfArguments arguments) {
  arguments.question.ns = arguments.host.ns;
  arguments.question.estimate = !arguments.no_estimate;
  const Result<Client> client = client_of(arguments.host);
  if (!client) return client.error();
  const Result<boost::json::object> document = ask_what_if(*client, arguments.question);
  if (!document) return document.error();
  fmt::print("{}", printed(*document, arguments.output, [&] { return what_if_text(*document); }));
  return 0;
}

}  // namespace

void add_what_if_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<WhatIfArguments>();
  CLI::App* command =
      app.add_subcommand("what-if", "Tell what would become of manifests, without applying them");
  CLI::Option* files = command
                           ->add_option("--filename,-f", arguments->question.files,
                                        "Manifest or folder; - is standard input; may be repeated")
                           ->type_name("FILE");
  CLI::Option* queue =
      command
          ->add_option("--queue,-q", arguments->question.local_queue,
                       "LocalQueue: when each of the first 100 that wait in it would start")
          ->type_name("[NAMESPACE/]NAME")
          ->excludes(files);
  command
      ->add_option("--clusterqueue", arguments->question.cluster_queue,
                   "The same of a ClusterQueue")
      ->type_name("NAME")
      ->excludes(files)
      ->excludes(queue);
  add_host_options(*command, arguments->host,
                   "Of objects that name none (default: the kubeconfig's)");
  command->add_flag("--delete", arguments->question.remove, "As if the objects were deleted")
      ->needs(files);
  command->add_flag("--no-estimate", arguments->no_estimate,
                    "Do not work out when what waits would start");
  add_output_option(*command, arguments->output);
  command->footer(kWhatIfFooter);
  command->callback([arguments, &action] {
    action = [arguments]() -> Result<int> { return what_if(*arguments); };
  });
}

}  // namespace sluice::host
