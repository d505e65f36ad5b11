// A killed supervisor must not leave an orphan on the GPU: the runner exits when its owner is gone.
#pragma once

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

inline void followOwner(pid_t owner) {
  std::thread([owner] {
#ifdef SYS_pidfd_open
    const int descriptor = int(syscall(SYS_pidfd_open, owner, 0));
    if (descriptor >= 0) {
      pollfd waiting{descriptor, POLLIN, 0};
      while (poll(&waiting, 1, -1) < 0 && errno == EINTR) {
      }
      _exit(1);
    }
#endif
    // Older Linux kernels: poll five times a second. EPERM means that the process exists.
    while (kill(owner, 0) == 0 || errno == EPERM) usleep(200 * 1000);
    _exit(1);
  }).detach();
}
