// Audit: one line per write request, whatever its outcome; per read of Secrets; and per request
// whose credentials are refused. May be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::host {

struct AuditRecord {
  std::string_view user;
  std::string_view impersonator;  ///< the user that acts as `user`; empty: none
  std::string_view verb;          ///< create, update, get, …; without a user: the HTTP method
  std::string_view group, resource, subresource;
  std::string_view ns, name;
  std::string_view peer;  ///< address:port
  bool dry_run = false;
  int code = 0;                     ///< HTTP status of the answer
  std::string_view reason;          ///< of a failure; empty: none
  std::int64_t latency_micros = 0;  ///< from the complete request to the answer
};

/// Writes the line (host/base/log.hpp, part `audit`). No part of an object's content is in it.
void audit(const AuditRecord& record);

}  // namespace sluice::host
