#include "tests/dst/kubelet.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/json/json.hpp"
#include "host/executor/pod_status.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

std::string annotation(const json::object& pod, std::string_view name) {
  return std::string(api::find_text(part(part(pod, "metadata"), "annotations"), name));
}

std::string job_of(const json::object& pod) {
  const json::object& metadata = part(pod, "metadata");
  std::string out(api::find_text(metadata, "namespace"));
  for_each_object(metadata, "ownerReferences", [&](const json::object& owner) {
    out.append("/").append(api::find_text(owner, "name"));
  });
  return out;
}

RunState state_of(const Process& process) {
  RunState out;
  ContainerState& container = out.containers.emplace_back();
  container.name = "c";
  container.now.started = 1;
  switch (process.state) {
    case Process::State::kRuns:
      out.phase = RunPhase::kRunning;
      container.now.state = ContainerRun::State::kRunning;
      break;
    case Process::State::kSucceeded:
    case Process::State::kFailed:
      out.phase =
          process.state == Process::State::kSucceeded ? RunPhase::kSucceeded : RunPhase::kFailed;
      container.now.state = ContainerRun::State::kTerminated;
      container.now.exit_code = process.state == Process::State::kSucceeded ? 0 : 1;
      break;
  }
  return out;
}

}  // namespace

void Kubelet::look(const LiveStore& store, const api::Scheme& scheme, ObjectTrees& trees, Time now,
                   std::vector<std::string>& wrong) {
  const auto pods = store.read(*scheme.find("v1", "Pod"), "");
  std::vector<std::string> there;
  for (const RecordPtr& record : pods->objects) {
    const json::object& pod = trees.of(record);
    const json::object& metadata = part(pod, "metadata");
    const std::string uid(api::find_text(metadata, "uid"));
    there.push_back(uid);
    const bool bound = !api::find_text(part(pod, "spec"), "nodeName").empty();
    const bool deleted = !api::find_text(metadata, "deletionTimestamp").empty();
    const auto known = processes_.find(uid);
    if (known == processes_.end() && bound && !deleted) {
      const auto job = store.get(*scheme.find("batch/v1", "Job"), job_of(pod));
      if (!job)
        wrong.push_back("pod " + record->key + " starts, and its job is not there");
      else if (has_condition(part(trees.of(job), "status"), "Complete"))
        wrong.push_back("pod " + record->key + " starts, and its job is complete");
      start(uid, pod, now, wrong);
    }
    if (known == processes_.end() && bound && deleted) {  // it never runs
      processes_[uid] = {record->key, job_of(pod), {}, Process::State::kFailed, now};
      untold_.push_back(uid);
    }
    if (known != processes_.end() && deleted) ask_to_end(uid, now);
  }
  std::sort(there.begin(), there.end());
  for (auto& [uid, process] : processes_)
    if (process.state == Process::State::kRuns && !std::ranges::binary_search(there, uid))
      end(uid, Process::State::kFailed);
}

void Kubelet::start(const std::string& uid, const json::object& pod, Time now,
                    std::vector<std::string>& wrong) {
  Process made;
  made.pod = std::string(api::find_text(part(pod, "metadata"), "name"));
  made.pod = std::string(api::find_text(part(pod, "metadata"), "namespace")) + "/" + made.pod;
  made.job = job_of(pod);
  made.index = annotation(pod, kIndex);
  if (made.index.empty()) made.index = uid;  // its job counts pods alone
  for_each_object(part(pod, "spec"), "containers", [&](const json::object& container) {
    const json::object& requests = part(part(container, "resources"), "requests");
    made.cpu_milli += std::stoll(std::string(api::find_text(requests, "cpu"))) * 1000;
  });
  const std::string seconds = annotation(pod, "dst/seconds");
  made.ends = now + (seconds.empty() ? 1 : std::stoll(seconds)) * kSecond;
  for (const auto& [other, process] : processes_)
    if (process.state == Process::State::kRuns && process.job == made.job &&
        process.index == made.index)
      wrong.push_back("pod " + made.pod + " starts while " + process.pod +
                      " runs, of the same job and index");
  processes_[uid] = std::move(made);
  untold_.push_back(uid);
}

void Kubelet::end(const std::string& uid, Process::State state) {
  processes_.at(uid).state = state;
  untold_.push_back(uid);
}

/// One in three ends at once, the others within half a minute.
void Kubelet::ask_to_end(const std::string& uid, Time now) {
  Process& process = processes_.at(uid);
  if (process.state != Process::State::kRuns || process.asked) return;
  const auto draw = std::accumulate(uid.begin(), uid.end(), 0);
  if (draw % 3 == 0) return end(uid, Process::State::kFailed);
  process.asked = true;
  process.ends = std::min(process.ends, now + (1 + draw % 30) * kSecond);
}

void Kubelet::pass(Time now) {
  for (auto& [uid, process] : processes_)
    if (process.state == Process::State::kRuns && process.ends <= now)
      end(uid, process.asked ? Process::State::kFailed : Process::State::kSucceeded);
}

/// As the local executor does.
void Kubelet::write(ObjectAccess& objects, const std::string& uid) const {
  const Process& process = processes_.at(uid);
  const api::KindInfo& pods = *objects.scheme().find("v1", "Pod");
  const auto pod = objects.get(pods, process.pod);
  if (!pod || api::find_text(part(*pod, "metadata"), "uid") != uid) return;
  const std::string_view phase = api::find_text(part(*pod, "status"), "phase");
  if (phase == "Succeeded" || phase == "Failed") return;
  const auto written =
      objects.update_status(pods, process.pod, pod_status(*pod, state_of(process), objects.now()));
  SLUICE_CHECK(written.ok(), "the status of a pod is refused: ", written.error().text);
}

void Kubelet::tell(ObjectAccess& objects, std::uint32_t draw) {
  std::vector<std::string> later;
  for (std::size_t i = 0; i < untold_.size(); ++i) {
    const std::uint32_t which = (draw >> (2 * (i % 16))) % 4;
    if (which > 0) write(objects, untold_[untold_.size() - 1 - i]);
    if (which % 2 == 0) later.push_back(untold_[untold_.size() - 1 - i]);  // not yet, or again
  }
  untold_ = std::move(later);
}

void Kubelet::tell_all(ObjectAccess& objects) {
  for (const std::string& uid : std::exchange(untold_, {})) write(objects, uid);
}

void Kubelet::host_died() {
  untold_.clear();
  for (const auto& [uid, process] : processes_) untold_.push_back(uid);
}

std::size_t Kubelet::running() const {
  return static_cast<std::size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& each) { return each.second.state == Process::State::kRuns; }));
}

std::map<std::string, std::int64_t> Kubelet::in_use() const {
  std::map<std::string, std::int64_t> out;
  for (const auto& [uid, process] : processes_)
    if (process.state == Process::State::kRuns) out[process.job] += process.cpu_milli;
  return out;
}

}  // namespace sluice::host::test
