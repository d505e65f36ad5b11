// Confines this process before it loads a submission's code. Afterwards, the process can compute, print and read files.
// Every other system call fails with EPERM.
#pragma once

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <vector>

#if defined(__x86_64__)
constexpr unsigned kAuditArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kAuditArchitecture = AUDIT_ARCH_AARCH64;
#endif

// System calls for loading a library, allocating, printing, reading the clock and exiting. Sockets, processes, threads,
// signals to other processes, namespaces and tracing are deliberately missing.
inline constexpr long kAllowedCalls[] = {
    SYS_read,         SYS_pread64,       SYS_readv,           SYS_write,         SYS_writev,
    SYS_close,        SYS_lseek,         SYS_fstat,           SYS_newfstatat,    SYS_statx,
    SYS_mmap,         SYS_munmap,        SYS_mprotect,        SYS_mremap,        SYS_madvise,
    SYS_brk,          SYS_futex,         SYS_rt_sigaction,    SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_sigaltstack,  SYS_getpid,        SYS_gettid,          SYS_getuid,        SYS_geteuid,
    SYS_getgid,       SYS_getegid,       SYS_clock_gettime,   SYS_clock_getres,  SYS_clock_nanosleep,
    SYS_gettimeofday, SYS_nanosleep,     SYS_getrandom,       SYS_uname,         SYS_sysinfo,
    SYS_sched_yield,  SYS_sched_getaffinity, SYS_readlinkat,  SYS_faccessat,     SYS_getcwd,
    SYS_tgkill,  // for abort(); the process ID namespace has no other processes
    SYS_exit,         SYS_exit_group,
#ifdef SYS_readlink
    SYS_readlink,     SYS_access,        SYS_stat,            SYS_lstat,         SYS_time,
#endif
};

// Installs the filter for the rest of the process. Returns false if the system does not support the filter.
inline bool confine() {
  constexpr unsigned kWrites = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
  const auto load = [](size_t offset) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, unsigned(offset)); };
  const auto returns = [](unsigned value) { return sock_filter BPF_STMT(BPF_RET | BPF_K, value); };
  const auto skipUnlessEqual = [](unsigned value, unsigned char count) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
  };
  const unsigned refused = SECCOMP_RET_ERRNO | EPERM;
  const auto argument = [](int index) { return offsetof(seccomp_data, args) + 8 * size_t(index); };
  std::vector<sock_filter> program = {
      load(offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAuditArchitecture, 1, 0),
      returns(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
  };
  for (const long call : kAllowedCalls) {
    program.push_back(skipUnlessEqual(unsigned(call), 1));
    program.push_back(returns(SECCOMP_RET_ALLOW));
  }
  // Allows opening files for reading only.
  const auto allowReading = [&](long call, int flags) {
    program.push_back(skipUnlessEqual(unsigned(call), 4));
    program.push_back(load(argument(flags)));
    program.push_back(sock_filter BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kWrites, 1, 0));
    program.push_back(returns(SECCOMP_RET_ALLOW));
    program.push_back(returns(refused));
  };
  allowReading(SYS_openat, 2);
#ifdef SYS_open
  allowReading(SYS_open, 1);
#endif
  program.push_back(returns(refused));
  const sock_fprog whole = {static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}
