// Memory that processes share by name: a pod gets its own, as in Kubernetes.
//
// System V segments, semaphores and queues, POSIX queues and the files of /dev/shm belong to no
// process, so they would outlive the job that made them, use up the machine's, and be open to all
// others of its user. In namespaces of the pod's own they go with its last process.
#pragma once

#include <filesystem>
#include <string>

namespace sluice::host {

/// From now on the calling process, which has one thread, and its children have their own. False,
/// with errno: it has what it had, or part of it.
bool leave_shared_memory();

/// Whether it lies where whoever left the shared memory sees it no more.
bool is_in_shared_memory(const std::filesystem::path& path);

/// Why pods that this process starts cannot have that; empty: they can. Starts one to see.
std::string why_no_own_memory();

}  // namespace sluice::host
