#include "host/access/audit.hpp"

#include <fmt/format.h>

#include "host/base/log.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {

void audit(const AuditRecord& record) {
  const std::string resource =
      fmt::format("{}{}{}{}{}", record.resource, record.group.empty() ? "" : ".", record.group,
                  record.subresource.empty() ? "" : "/", record.subresource);
  const std::string object = join_key(record.ns, record.name);
  log(LogLevel::kInfo, "audit", record.code < 400 ? "done" : "refused",
      {{"user", std::string(record.user)},
       {"impersonatedBy", std::string(record.impersonator)},
       {"verb", std::string(record.verb)},
       {"resource", resource},
       {"object", object},
       {"dryRun", record.dry_run ? "true" : "false"},
       {"code", std::to_string(record.code)},
       {"reason", std::string(record.reason)},
       {"latencyMs", fmt::format("{:.3f}", static_cast<double>(record.latency_micros) / 1000)},
       {"peer", std::string(record.peer)}});
}

}  // namespace sluice::host
