#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/cli/connection.hpp"
#include "host/cli/output.hpp"
#include "host/client/submit.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

constexpr const char* kSubmitFooter =
    R"(The program runs where a pod of the Job is put, in the folder in which you are now, with your
PATH. Everything after -- is the program and its arguments.

Examples:
  sluice submit --queue team-a -- ./train.sh --epochs 3
      hand it in and go on; prints the Job's name
  sluice submit --queue team-a --cpu 2 --memory 4Gi --wait --logs -- python3 train.py
      wait for it and show its output; the exit status is 0 when it succeeded
  sluice submit --queue team-a --parallelism 4 --completions 100 --indexed -- ./shard.sh
      a hundred runs, four at a time; each finds its number in JOB_COMPLETION_INDEX)";

struct SubmitArguments {
  Submission submission;
  HostOptions host;
  std::string cpu, memory, gpu, max_time, folder;
  std::vector<std::string> env, resources;
  std::optional<std::int64_t> completions;
  OutputFormat output = OutputFormat::kTable;
  bool wait = false, logs = false, dry_run = false;
};

std::string check_pair(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != 0 && equals != std::string::npos) return {};
  return fmt::format("found \"{}\"; allowed: NAME=VALUE", text);
}

std::pair<std::string, std::string> name_and_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Submission submission_of(const SubmitArguments& arguments) {
  Submission out = arguments.submission;
  out.ns = arguments.host.ns;
  out.working_dir = arguments.folder;
  std::error_code ignored;
  if (out.working_dir.empty()) out.working_dir = std::filesystem::current_path(ignored).string();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets variables
  if (const char* path = std::getenv("PATH")) out.env.emplace_back("PATH", path);
  for (const std::string& entry : arguments.env) out.env.push_back(name_and_value(entry));
  for (const auto& [name, amount] :
       {std::pair{"cpu", &arguments.cpu}, std::pair{"memory", &arguments.memory},
        std::pair{"nvidia.com/gpu", &arguments.gpu}}) {
    if (!amount->empty()) out.resources.emplace_back(name, *amount);
  }
  for (const std::string& entry : arguments.resources)
    out.resources.push_back(name_and_value(entry));
  if (!arguments.max_time.empty()) out.max_time = parse_duration(arguments.max_time);
  out.completions = arguments.completions;
  return out;
}

/// A Job has no table: without -o it is JSON.
void print_job(const boost::json::object& job, OutputFormat format) {
  fmt::print("{}", printed(job, format, [&] { return indented_json(job) + "\n"; }));
}

Result<int> print_job(const Submission& submission, OutputFormat format) {
  const Result<boost::json::object> job = make_job(submission);
  if (!job) return job.error();
  print_job(*job, format);
  return 0;
}

Result<int> submit(const SubmitArguments& arguments) {
  Submission submission = submission_of(arguments);
  if (arguments.dry_run && !submission.queue.empty())
    return print_job(submission, arguments.output);
  // Mistakes in the options are reported before any request is sent.
  if (const auto job = make_job(submission); !job) return job.error();
  const Result<Client> client = client_of(arguments.host);
  if (!client) return client.error();
  const std::string ns = submission.ns.empty() ? client->config().ns : submission.ns;
  const Result<std::string> queue = choose_queue(*client, ns, submission.queue);
  if (!queue) return queue.error();
  submission.queue = *queue;
  if (!submission.priority_class.empty())
    if (const auto known = check_priority_class(*client, submission.priority_class); !known)
      return known.error();
  if (arguments.dry_run) return print_job(submission, arguments.output);
  const Result<boost::json::object> job = make_job(submission);
  if (!job) return job.error();
  const Result<boost::json::object> made =
      client->call("POST",
                   fmt::format("/apis/batch/v1/namespaces/{}/jobs?fieldManager=sluice-submit",
                               percent_encoded(ns)),
                   boost::json::serialize(*job));
  if (!made) return made.error();
  const std::string name(api::find_text(part(*made, "metadata"), "name"));
  if (arguments.output != OutputFormat::kTable) print_job(*made, arguments.output);
  if (!arguments.wait && !arguments.logs) {
    if (arguments.output != OutputFormat::kTable) return 0;
    fmt::print("{}/{}\n", ns, name);
    if (::isatty(STDERR_FILENO) != 0)
      fmt::print(stderr, "sluice explain {0}/job/{1} tells where it stands\n", ns, name);
    return 0;
  }
  const Result<bool> good = follow_job(*client, ns, name, {arguments.logs});
  if (!good)
    return good.error().context(
        fmt::format("job {}/{} was made, and cannot be followed", ns, name));
  return *good ? 0 : 1;
}

void add_options(CLI::App& command, SubmitArguments& arguments) {
  Submission& submission = arguments.submission;
  command
      .add_option("--queue,-q", submission.queue,
                  "LocalQueue to wait in (default: the namespace's, if it has one only)")
      ->type_name("NAME");
  add_host_options(command, arguments.host);
  command.add_option("--name", submission.name, "Name of the Job (default: after the program)")
      ->type_name("NAME");
  command.add_option("--cpu", arguments.cpu, "CPUs of each pod")->type_name("AMOUNT");
  command.add_option("--memory", arguments.memory, "Memory of each pod")->type_name("AMOUNT");
  command.add_option("--gpu", arguments.gpu, "nvidia.com/gpu of each pod")->type_name("AMOUNT");
  command.add_option("--resource", arguments.resources, "Any other resource of each pod")
      ->type_name("NAME=AMOUNT")
      ->check(check_pair)
      ->allow_extra_args(false);
  command.add_option("--parallelism", submission.parallelism, "Pods at a time")->type_name("N");
  command.add_option("--completions", arguments.completions, "Runs that have to succeed")
      ->type_name("N");
  command.add_flag("--indexed", submission.indexed, "Number the runs (JOB_COMPLETION_INDEX)");
  command.add_option("--retries", submission.retries, "Failures that are forgiven (default 0)")
      ->type_name("N");
  command.add_option("--priority-class", submission.priority_class, "WorkloadPriorityClass")
      ->type_name("NAME");
  command.add_option("--env", arguments.env, "Variable of the program; may be repeated")
      ->type_name("NAME=VALUE")
      ->check(check_pair)
      ->allow_extra_args(false);
  command.add_option("--max-time", arguments.max_time, "End it after so much running")
      ->type_name("DURATION")
      ->check(check_duration);
  command.add_option("--folder", arguments.folder, "Working directory (default: this one)")
      ->type_name("FOLDER");
  command.add_flag("--wait", arguments.wait, "Wait for the end; exit status 0 when it succeeded");
  command.add_flag("--logs", arguments.logs, "Show the output as it comes; waits, too");
  command.add_flag("--dry-run", arguments.dry_run, "Print the Job and do nothing");
  add_output_option(command, arguments.output,
                    "The Job as json or yaml; table: its name, with --dry-run json");
  command.add_option("PROGRAM", submission.argv, "After --: the program and its arguments")
      ->required();
}

}  // namespace

void add_submit_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<SubmitArguments>();
  CLI::App* command = app.add_subcommand("submit", "Run a program as a Job of a queue");
  add_options(*command, *arguments);
  command->footer(kSubmitFooter);
  command->callback([arguments, &action] {
    action = [arguments]() -> Result<int> { return submit(*arguments); };
  });
}

}  // namespace sluice::host
