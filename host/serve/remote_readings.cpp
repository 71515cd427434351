#include "host/serve/remote_readings.hpp"

namespace sluice::host {

std::vector<Reading> remote_readings(const std::vector<RemoteHealth>& remotes) {
  if (remotes.empty()) return {};
  Reading connected{"sluice_remote_connected", "1 while the remote is connected", false, {}};
  Reading objects{"sluice_remote_objects", "Objects of the remote's mirror", false, {}};
  Reading bytes{"sluice_remote_bytes", "Bytes of the remote's mirror", false, {}};
  Reading waiting{"sluice_remote_writes_waiting", "Writes without an answer", false, {}};
  Reading requests{"sluice_remote_writes_total", "Writes that were sent", true, {}};
  Reading failures{"sluice_remote_write_failures_total", "Writes that failed", true, {}};
  Reading connections{"sluice_remote_connections_total", "Connections that were begun", true, {}};
  Reading questions{"sluice_remote_questions_total", "Questions that were asked", true, {}};
  for (const RemoteHealth& each : remotes) {
    const auto add = [&](Reading& reading, auto value) {
      reading.samples.push_back(
          {{{"plugin", each.plugin}, {"remote", each.remote}}, static_cast<double>(value)});
    };
    add(connected, each.connected ? 1 : 0);
    add(objects, each.objects);
    add(bytes, each.bytes);
    add(waiting, each.outstanding);
    add(requests, each.requests);
    add(failures, each.failures);
    add(connections, each.connections);
    add(questions, each.questions);
  }
  return {connected, objects, bytes, waiting, requests, failures, connections, questions};
}

}  // namespace sluice::host
