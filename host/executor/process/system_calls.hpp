// Which calls of the system a job's processes have no business with: those that manage the machine
// (mounts, modules, clocks, namespaces, keys, swap) or that reach far into the kernel (bpf,
// io_uring, perf, userfaultfd). They fail with EPERM, as if there were no right to them; for the
// rest a job is an ordinary program.
#pragma once

namespace sluice::host {

/// For this process, what it starts, and for good. REQUIRES: no new privileges (prctl(2)). Calls
/// nothing but the system, so it may be called between fork and exec.
bool refuse_system_calls();

}  // namespace sluice::host
