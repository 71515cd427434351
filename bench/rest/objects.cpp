#include "bench/rest/objects.hpp"

#include <fmt/format.h>

namespace sluice::bench {
namespace {

constexpr std::string_view kDigits = "00000000";
constexpr std::string_view kKueue = "/apis/kueue.x-k8s.io/v1beta2";

std::string body_of(Kind kind) {
  switch (kind) {
    case Kind::kConfigMap:
      return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m-00000000"},)"
             R"("data":{"state":"0"}})";
    case Kind::kPending:
    case Kind::kAdmitted:
      return fmt::format(
          R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":)"
          R"({{"name":"{}-00000000"}},"spec":{{"queueName":"{}","podSets":[{{"name":"main",)"
          R"("count":1,"template":{{"spec":{{"restartPolicy":"Never","containers":[{{"name":"c",)"
          R"("image":"none","command":["true"],"resources":{{"requests":)"
          R"({{"cpu":"1"}}}}}}]}}}}}}]}}}})",
          kind == Kind::kPending ? 'p' : 'a', kind == Kind::kPending ? "full" : "wide");
    case Kind::kJob:
      break;
  }
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j-00000000",)"
         R"("labels":{"kueue.x-k8s.io/queue-name":"full"}},"spec":{"suspend":true,)"
         R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",)"
         R"("image":"none","command":["true"],"resources":{"requests":{"cpu":"1"}}}]}}}})";
}

char letter(Kind kind) {
  switch (kind) {
    case Kind::kConfigMap:
      return 'm';
    case Kind::kPending:
      return 'p';
    case Kind::kAdmitted:
      return 'a';
    case Kind::kJob:
      break;
  }
  return 'j';
}

std::string queue(std::string_view name, std::string_view cpus) {
  return fmt::format(R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",)"
                     R"("metadata":{{"name":"{}"}},"spec":{{"namespaceSelector":{{}},)"
                     R"("resourceGroups":[{{"coveredResources":["cpu"],)"
                     R"("flavors":[{{"name":"flavor",)"
                     R"("resources":[{{"name":"cpu","nominalQuota":"{}"}}]}}]}}]}}}})",
                     name, cpus);
}

}  // namespace

std::string collection(Kind kind, std::size_t ns) {
  if (kind == Kind::kConfigMap) return fmt::format("/api/v1/namespaces/n{}/configmaps", ns);
  if (kind == Kind::kJob) return fmt::format("/apis/batch/v1/namespaces/n{}/jobs", ns);
  return fmt::format("{}/namespaces/n{}/workloads", kKueue, ns);
}

std::string name_of(Kind kind, std::size_t number) {
  return fmt::format("{}-{:08}", letter(kind), number);
}

void make_queues(const Target& target, std::size_t namespaces) {
  const auto post = [&](const std::string& path, const std::string& body) {
    call_once(target, "POST", path, body);
  };
  post(fmt::format("{}/resourceflavors", kKueue),
       R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",)"
       R"("metadata":{"name":"flavor"}})");
  post(fmt::format("{}/clusterqueues", kKueue), queue("full", "1"));
  post(fmt::format("{}/clusterqueues", kKueue), queue("wide", "100000000"));
  for (std::size_t i = 0; i < namespaces; ++i) {
    post("/api/v1/namespaces",
         fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"n{}"}}}})", i));
    for (const char* name : {"full", "wide"})
      post(fmt::format("{}/namespaces/n{}/localqueues", kKueue, i),
           fmt::format(R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":)"
                       R"({{"name":"{0}"}},"spec":{{"clusterQueue":"{0}"}}}})",
                       name));
  }
}

Creator::Creator(const Target& target, Kind kind, std::size_t namespaces, std::size_t most)
    : most_(most) {
  const std::string body = body_of(kind);
  for (std::size_t i = 0; i < namespaces; ++i) {
    const std::string start =
        head(target, "POST", collection(kind, i), "application/json", body.size());
    places_.push_back(start.size() + body.find(kDigits));
    texts_.push_back(start + body);
  }
}

bool Creator::operator()(std::string& text) {
  if (made_ == most_) return false;
  const std::size_t ns = made_ % texts_.size();
  text = texts_[ns];
  std::size_t number = made_++;
  for (std::size_t at = places_[ns] + kDigits.size(); number > 0; number /= 10)
    text[--at] = static_cast<char>('0' + number % 10);
  return true;
}

Updater::Updater(const Target& target, std::size_t objects) : target_(target) {
  CallOptions options;
  options.seconds = 1e6;
  options.answered = [this](std::string_view body, Clock::time_point) { answered(body); };
  call_many(target, options, Creator(target, Kind::kConfigMap, 1, objects));
}

void Updater::answered(std::string_view body) {
  std::string name = member(body, "name");
  versions_[name] = member(body, "resourceVersion");
  ready_.push_back(std::move(name));
}

bool Updater::operator()(std::string& text) {
  const std::string name = std::move(ready_.back());
  ready_.pop_back();
  const std::string body =
      fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}",)"
                  R"("resourceVersion":"{}"}},"data":{{"state":"{}"}}}})",
                  name, versions_[name], ++count_);
  text = head(target_, "PUT", collection(Kind::kConfigMap, 0) + "/" + name, "application/json",
              body.size());
  text += body;
  return true;
}

}  // namespace sluice::bench
