#include "host/decide/lease_holder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/log.hpp"
#include "host/client/link.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/{}/leases";

/// As metav1.MicroTime wants it: six digits, whatever the time.
std::string micro_time(std::int64_t wall) {
  std::string out = format_time(wall - wall % kSecond);  // …:05Z
  out.pop_back();
  return fmt::format("{}.{:06}Z", out, wall % kSecond / 1'000);
}

}  // namespace

LeaseHolder::LeaseHolder(LinkTarget target, const Kubeconfig& config, LeaseOptions options,
                         std::string identity, std::function<std::int64_t()> wall,
                         std::function<void()> lost)
    : options_(std::move(options)),
      identity_(std::move(identity)),
      wall_(std::move(wall)),
      lost_(std::move(lost)),
      keeper_(identity_, options_.times),
      // A request that hangs leaves the time for another one, on another connection.
      caller_(std::move(target), config, options_.times.lasts / 3) {}

void LeaseHolder::start() {
  caller_.start();
  thread_ = std::thread([this] { keep(); });
}

bool LeaseHolder::holds() const { return keeper_.holds(steady_now()); }

void LeaseHolder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  if (holds())
    if (auto record = read(); record && *record && (*record)->holder == identity_) {
      (*record)->holder.clear();
      write(**record, true);
    }
  caller_.stop();
}

void LeaseHolder::keep() {
  for (;;) {
    look();
    if (keeper_.lost(steady_now())) {
      log(LogLevel::kError, "lease", "lost the lease: another one may decide",
          {{"holder", keeper_.holder()}});
      return lost_();
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(keeper_.pause(steady_now())),
                      [this] { return stopping_; });
    if (stopping_) return;
  }
}

void LeaseHolder::look() {
  auto record = read();
  if (!record) return trouble_.tell(record.error().text);
  const auto wanted = keeper_.saw(*record, steady_now());
  if (!wanted) {
    trouble_.tell("");
    if (told_holder_ != keeper_.holder() && !keeper_.lost(steady_now()))
      log(LogLevel::kInfo, "lease", "standing by; it is held by " + keeper_.holder());
    told_holder_ = keeper_.holder();
    return;
  }
  const bool held = holds();
  const Duration asked = steady_now();
  if (!write(*wanted, record->has_value())) return;
  keeper_.wrote(asked);
  trouble_.tell("");
  if (!held) log(LogLevel::kInfo, "lease", "held by this one", {{"identity", identity_}});
}

Result<std::optional<LeaseRecord>> LeaseHolder::read() {
  ClusterRequest request;
  request.path = fmt::format(fmt::runtime(kLeases), options_.ns) + "/" + options_.name;
  const ClusterAnswer answer = caller_.ask(std::move(request));
  if (answer.status == 404) return std::optional<LeaseRecord>();
  const auto lease = api::parse_object(answer.body);
  if (answer.status != 200 || !lease)
    return Error{
        fmt::format("cannot read lease {}/{}: {}", options_.ns, options_.name, trouble_of(answer))};
  const json::object& spec = part(*lease, "spec");
  LeaseRecord out;
  out.holder = text_in(spec, "holderIdentity");
  out.lasts_seconds = api::find_int(spec, "leaseDurationSeconds").value_or(0);
  out.transitions = api::find_int(spec, "leaseTransitions").value_or(0);
  out.acquired = text_in(spec, "acquireTime");
  out.version = text_in(part(*lease, "metadata"), "resourceVersion");
  return std::optional<LeaseRecord>(std::move(out));
}

/// Whether it is stored. A write of another replica in between makes it fail (409).
bool LeaseHolder::write(const LeaseRecord& wanted, bool exists) {
  const std::string now = micro_time(wall_());
  json::object metadata{{"name", options_.name}, {"namespace", options_.ns}};
  if (exists) metadata["resourceVersion"] = wanted.version;
  json::object spec{{"holderIdentity", wanted.holder},
                    {"leaseDurationSeconds", wanted.lasts_seconds},
                    {"leaseTransitions", wanted.transitions},
                    {"acquireTime", wanted.acquired.empty() ? now : wanted.acquired},
                    {"renewTime", now}};
  const json::object body{{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", std::move(metadata)},
                          {"spec", std::move(spec)}};
  ClusterRequest request;
  request.method = exists ? "PUT" : "POST";
  request.path = fmt::format(fmt::runtime(kLeases), options_.ns);
  if (exists) request.path += "/" + options_.name;
  request.content_type = "application/json";
  request.body = api::to_json(body);
  const ClusterAnswer answer = caller_.ask(std::move(request));
  if (answer.status == 200 || answer.status == 201) return true;
  if (answer.status != 409)
    trouble_.tell(fmt::format("cannot write lease {}/{}: {}", options_.ns, options_.name,
                              trouble_of(answer)));
  return false;
}

}  // namespace sluice::host
