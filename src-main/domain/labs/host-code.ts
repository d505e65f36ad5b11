/**
 * What host code of a submission may do: launch its kernels. It shares a process with the runner that times it, so what runs before it is
 * called, or reaches for processes, memory and files, is turned down before any of it has run.
 */
import { message, together, type Statement } from '../messages/message'

/** Functions by which a result could be forged, of the C library and the C++ one; none is needed to launch a kernel. */
const forbidden: readonly RegExp[] = [
  // Code from elsewhere, and finding that of the runner.
  /^(dl(open|mopen|sym|vsym|addr1?|info|_iterate_phdr)|__libc_dlopen_mode)$/,
  // Processes and threads.
  /^(v?fork|_Fork|clone3?|unshare|exec[lv]p?e?|execvpe|fexecve|execveat|posix_spawnp?|system|popen|pthread_create|thrd_create)$/,
  /^_ZNSt6thread/,
  // Not `exit`, which nvcc itself puts where a device function has no host code.
  /^(_exit|_Exit|quick_exit|t?g?kill|killpg|raise|pthread_kill|signal|sigaction|bsd_signal|setitimer|timer_create)$/,
  // Memory that is not its own, and the system itself.
  /^(ptrace|process_vm_(read|write)v|syscall|prctl|m(map|map64|protect|remap)|pkey_mprotect|memfd_create|shm_open|shmat)$/,
  // Files, sockets and the environment.
  /^(open(at)?(64)?|__open(at)?(64)?_2|creat(64)?|f(re)?open(64)?|fdopen|dup[23]?|fcntl(64)?|ioctl|socket(pair)?|connect|pipe2?)$/,
  /^(p?writev?(64)?|pwritev(64)?|dprintf|__dprintf_chk|send(to|msg|file|file64)?|splice|copy_file_range|unlink(at)?|rename(at2?)?)$/,
  /^(putenv|setenv|unsetenv|clearenv)$/,
  /^_ZNK?St\d+basic_(filebuf|[io]?fstream)/,
  /^_ZNSt10filesystem/,
]

/** Null where it may run. */
export function hostCodeFault(code: {
  unasked: readonly string[]
  imports: readonly string[]
}): Statement | null {
  const names = (all: readonly string[]): string => [...new Set(all)].sort().join(', ')
  const calls = code.imports.filter((name) => forbidden.some((pattern) => pattern.test(name)))
  const runs = code.unasked.length > 0
  if (!runs && calls.length === 0) return null
  return together(
    message('checks.onlyLaunch'),
    runs ? message('checks.runsUnasked', { names: names(code.unasked) }) : null,
    calls.length > 0 ? message('checks.hostCalls', { names: names(calls) }) : null,
  )
}
