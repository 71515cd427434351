// Lines of the audit: what they say of a request, and what they leave out.
#include "host/access/audit.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

/// The line without its time.
std::string audit_line(const AuditRecord& record) {
  testing::internal::CaptureStderr();
  audit(record);
  const std::string line = testing::internal::GetCapturedStderr();
  return line.substr(line.find(' ') + 1);
}

TEST(Audit, ALineSaysWhoDidWhatToWhat) {
  EXPECT_EQ(audit_line({.user = "joe",
                        .impersonator = "jane",
                        .verb = "patch",
                        .group = "batch",
                        .resource = "jobs",
                        .subresource = "status",
                        .ns = "team-a",
                        .name = "j",
                        .peer = "127.0.0.1:5",
                        .dry_run = true,
                        .code = 409,
                        .reason = "Conflict",
                        .latency_micros = 1234}),
            "info audit: refused user=joe impersonatedBy=jane verb=patch "
            "resource=jobs.batch/status object=team-a/j dryRun=true code=409 reason=Conflict "
            "latencyMs=1.234 peer=127.0.0.1:5\n");
  EXPECT_EQ(audit_line({.user = "joe",
                        .impersonator = "",
                        .verb = "delete",
                        .group = "",
                        .resource = "nodes",
                        .subresource = "",
                        .ns = "",
                        .name = "n",
                        .peer = "127.0.0.1:5",
                        .code = 200,
                        .reason = ""}),
            "info audit: done user=joe impersonatedBy=\"\" verb=delete resource=nodes object=n "
            "dryRun=false code=200 reason=\"\" latencyMs=0.000 peer=127.0.0.1:5\n");
}

// 400 is the first code of a refusal.
TEST(Audit, WhatIsNoFailureIsDone) {
  for (const int code : {201, 399, 400, 500}) {
    AuditRecord record;
    record.code = code;
    const std::string line = audit_line(record);
    EXPECT_EQ(line.starts_with("info audit: done "), code < 400) << line;
  }
}

}  // namespace
}  // namespace sluice::host
