#include "host/executor/process/system_calls.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace sluice::host {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kOurMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kOurMachine = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this machine are not known: say which AUDIT_ARCH it is"
#endif
constexpr std::uint32_t kCallsOfX32 = 0x40000000;

constexpr int kRefused[] = {
    // the machine
    __NR_acct,
    __NR_reboot,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_clock_adjtime,
    __NR_swapon,
    __NR_swapoff,
    __NR_syslog,
    __NR_quotactl,
    __NR_vhangup,
    __NR_kexec_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    // file systems and namespaces
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_setns,
    __NR_open_tree,
    __NR_move_mount,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_open_by_handle_at,
    // deep in the kernel
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_kcmp,
    __NR_add_key,
    __NR_request_key,
    __NR_keyctl,
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
#ifdef __NR_mount_setattr
    __NR_mount_setattr,
#endif
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
#ifdef __x86_64__
    __NR_iopl,
    __NR_ioperm,
    __NR_uselib,
    __NR_ustat,
    __NR_sysfs,
#endif
};

constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr std::uint32_t refusal(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

constexpr sock_filter load(std::size_t place) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(place));
}
constexpr sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
/// Goes `yes` or `no` instructions further.
constexpr sock_filter when(std::uint16_t test, std::uint32_t value, std::uint8_t yes,
                           std::uint8_t no) {
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, yes, no);
}

// The first argument, of which flags and families are in the lower half.
constexpr std::size_t kFirst = offsetof(seccomp_data, args);

/// What a job may do is said at the end; what it may not, on the way there.
constexpr auto filter() {
  constexpr std::size_t kEach = 2, kHead = 6, kTail = 15;
  std::array<sock_filter, kHead + kEach * std::size(kRefused) + kTail> out{};
  std::size_t at = 0;
  const auto add = [&](sock_filter next) { out[at++] = next; };
  add(load(offsetof(seccomp_data, arch)));
  add(when(BPF_JEQ, kOurMachine, 1, 0));
  add(answer(SECCOMP_RET_KILL_PROCESS));
  add(load(offsetof(seccomp_data, nr)));
  add(when(BPF_JGE, kCallsOfX32, 0, 1));
  add(answer(refusal(ENOSYS)));
  for (const int call : kRefused) {
    add(when(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1));
    add(answer(refusal(EPERM)));
  }
  // clone3 hides its flags in memory: libraries take clone then.
  add(when(BPF_JEQ, __NR_clone3, 0, 1));
  add(answer(refusal(ENOSYS)));
  // New namespaces, by either call.
  add(when(BPF_JEQ, __NR_clone, 2, 0));
  add(when(BPF_JEQ, __NR_unshare, 1, 0));
  add(BPF_STMT(BPF_JMP | BPF_JA, 3));  // another call
  add(load(kFirst));
  add(when(BPF_JSET, kNamespaces, 0, 7));
  add(answer(refusal(EPERM)));
  // Sockets to the machine below this one, and those into the kernel's ciphers.
  add(when(BPF_JEQ, __NR_socket, 1, 0));
  add(answer(SECCOMP_RET_ALLOW));
  add(load(kFirst));
  add(when(BPF_JEQ, AF_VSOCK, 1, 0));
  add(when(BPF_JEQ, AF_ALG, 0, 1));
  add(answer(refusal(EAFNOSUPPORT)));
  add(answer(SECCOMP_RET_ALLOW));
  return out;
}

constexpr auto kFilter = filter();

}  // namespace

bool refuse_system_calls() {
  const sock_fprog program{static_cast<unsigned short>(kFilter.size()),
                           const_cast<sock_filter*>(kFilter.data())};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace sluice::host
