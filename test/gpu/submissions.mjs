// @ts-check
/**
 * Forty lab submissions, including several of every misbehaving kind, and the expected contents of
 * their rows. Each submission is real CUDA code that adds a misbehavior around the launch in the
 * lab's solution. For the fake tools in test/fakes, a `// fault:` comment names the effect that the
 * code has on a GPU. As a result, the same files work with and without a GPU.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Kind
 * @property {number} count
 * @property {string[]} status the accepted statuses of the row
 * @property {'passed' | 'failed'} right the expected outcome of the row's result check
 * @property {RegExp} reason
 * @property {string} [fault] the fault that the fake tools simulate
 * @property {string} [before] C++ code at file level, before the launch function
 * @property {string} [answers] answers submitted with the code
 * @property {string} [launch] C++ code that replaces `return solution(p, stream);`
 */

const passes = { status: ['passed'], right: /** @type {const} */ ('passed'), reason: /^$/ }
const fails = { status: ['failed'], right: /** @type {const} */ ('failed') }
const solved = 'return kl_launch_solution(p, stream);'

const headers = [
  ...['fcntl.h', 'sched.h', 'signal.h', 'stdio.h', 'stdlib.h', 'string.h', 'unistd.h'],
  ...['mount.h', 'prctl.h', 'ptrace.h', 'stat.h', 'wait.h'].map((name) => `sys/${name}`),
]

// Each misbehavior is limited. If the grader does not stop a submission, the test fails without
// harm to the machine.
/** @type {Record<string, Kind>} */
export const kinds = {
  right: { count: 4, ...passes },
  slow: { count: 2, status: ['failed'], right: 'passed', reason: /./ },
  wrong: {
    count: 4,
    ...fails,
    reason: /exceed the error bound/,
    fault: 'wrong',
    launch: `KlGemm other = *p;
  other.alpha += 1.0f;
  return kl_launch_solution(&other, stream);`,
  },
  hang: {
    count: 3,
    ...fails,
    reason: /Hung.*no progress/,
    fault: 'hang',
    before: `__global__ void spin(volatile int* forever) {
  while (*forever == 0) __nanosleep(1000);
}`,
    launch: `static int* forever = nullptr;
  if (forever == nullptr) {
    cudaMalloc(&forever, sizeof(int));
    cudaMemset(forever, 0, sizeof(int));
  }
  spin<<<1, 1, 0, stream>>>(forever);
  ${solved}`,
  },
  crash: {
    count: 3,
    ...fails,
    reason: /Crashed during/,
    fault: 'crash',
    launch: `raise(SIGSEGV);
  ${solved}`,
  },
  fault: {
    count: 2,
    ...fails,
    reason: /illegal memory access|Crashed/,
    fault: 'context-lost',
    before: '__global__ void reach(int* nowhere) { *nowhere = 1; }',
    launch: `reach<<<1, 1, 0, stream>>>(nullptr);
  ${solved}`,
  },
  compile: {
    count: 4,
    ...fails,
    reason: /Does not compile.*undeclared/,
    before: 'int x = undeclared;',
  },
  flood: {
    count: 2,
    ...fails,
    reason: /Printed without end/,
    fault: 'flood',
    launch: `static char line[65536];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\\n';
  for (int written = 0; written < 65536; ++written) fwrite(line, 1, sizeof line, stdout);
  ${solved}`,
  },
  fork: {
    count: 2,
    // The submission may reach the process limit, the memory limit, or the silence limit first.
    status: ['failed', 'stopped'],
    right: 'failed',
    reason: /more than 256 processes|more than [\d.]+ GiB|stopped after|Hung/,
    fault: 'fork',
    launch: `for (int made = 0; made < 2000; ++made) {
    if (fork() == 0) {
      setsid();
      execlp("sleep", "sleep", "300", (char*)nullptr);
      _exit(1);
    }
    usleep(5000);
  }
  ${solved}`,
  },
  stay: {
    count: 2,
    ...passes,
    fault: 'stay',
    // Fork only once, because a profiler would wait for the child process of each launch.
    launch: `char mark[4096];
  snprintf(mark, sizeof mark, "%s/left", getenv("TMPDIR"));
  const int first = open(mark, O_CREAT | O_EXCL, 0600);
  if (first >= 0 && fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int file = 0; file < 1024; ++file) close(file);
    execlp("sleep", "sleep", "300", (char*)nullptr);
    _exit(1);
  }
  if (first >= 0) close(first);
  ${solved}`,
  },
  write: {
    count: 3,
    ...passes,
    fault: 'write',
    launch: `for (const char* path : victims)
    if (FILE* file = fopen(path, "w")) {
      fputs("a submission was here\\n", file);
      fclose(file);
    }
  ${solved}`,
  },
  escape: {
    count: 2,
    ...passes,
    // The launch fails if any attempt to escape succeeds. A child process makes the attempts,
    // because threads are not allowed to call unshare.
    launch: `static bool tried = false;  // once: a fork in each launch would be timed
  const pid_t child = tried ? -1 : fork();
  tried = true;
  if (child == 0) {
    int got = 0;
    const char* beyond[] = {"/root", "/home", "/run/systemd", "/run/docker.sock", "/var/run/docker.sock", "/etc/shadow"};
    for (const char* path : beyond) got += access(path, F_OK) == 0;
    for (const char* path : victims) got += access(path, F_OK) == 0;
    got += mount("none", "/", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0;
    got += mount("none", "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0;
    got += mount("none", "/tmp", "tmpfs", 0, nullptr) == 0;
    got += unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && mount("none", "/tmp", "tmpfs", 0, nullptr) == 0;
    got += access("/proc/sys/kernel/core_pattern", W_OK) == 0 || access("/proc/sysrq-trigger", W_OK) == 0;
    got += ptrace(PTRACE_ATTACH, 1, nullptr, nullptr) == 0;
    for (int cap = 0; cap < 40; ++cap) got += prctl(PR_CAPBSET_READ, cap) == 1;
    _exit(got);
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (status != 0) return cudaErrorNotPermitted;
  ${solved}`,
  },
  bury: {
    count: 2,
    ...passes,
    fault: 'bury',
    launch: `static bool buried = false;  // once: a fork in each launch would be timed
  if (!buried && fork() == 0) {
    char name[201];
    memset(name, 'n', 200);
    name[200] = 0;
    if (chdir(getenv("TMPDIR")) != 0) _exit(1);
    for (int deep = 0; deep < 60; ++deep)
      if (mkdir(name, 0700) != 0 || chdir(name) != 0) break;
    mkdir("shut", 0700);
    close(open("shut/file", O_CREAT, 0600));
    chmod("shut", 0);
    _exit(0);
  }
  if (!buried) wait(nullptr);
  buried = true;
  ${solved}`,
  },
  answers: {
    count: 2,
    status: ['refused'],
    right: 'failed',
    reason: /nested deeper/,
    answers: '? '.repeat(12_000),
  },
  eat: {
    count: 2,
    // The submission exceeds the memory limit. On a machine with slow memory allocation, the
    // submission exceeds the silence limit instead.
    status: ['stopped', 'failed'],
    right: 'failed',
    reason: /more than [\d.]+ GiB|Hung/,
    fault: 'eat',
    launch: `for (int blocks = 0; blocks < 512; ++blocks) {
    const size_t bytes = 64u << 20;
    if (void* block = malloc(bytes)) memset(block, 1, bytes);
  }
  for (;;) pause();`,
  },
  vram: {
    count: 1,
    ...fails,
    reason: /memory/i,
    fault: 'context-lost',
    launch: `void* block = nullptr;
  for (size_t bytes = size_t(1) << 30; bytes >= 1 << 20; bytes /= 2)
    while (cudaMalloc(&block, bytes) == cudaSuccess) {
    }
  return cudaErrorMemoryAllocation;`,
  },
}

export const submissionCount = Object.values(kinds).reduce((sum, { count }) => sum + count, 0)

/** @param {string} student */
export const kindOf = (student) => kinds[student.split('-')[0] ?? '']

/**
 * Returns the processes that have a given folder in their environment. A submission's environment
 * contains the grader's cache folder.
 *
 * @param {string} folder
 */
export function leftProcesses(folder) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
        const argv = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
        return environment.includes(folder) ? [`${pid} ${argv}`] : []
      } catch {
        return []
      }
    })
}

/**
 * @param {string} source
 * @param {Kind} kind
 * @param {readonly string[]} victims
 */
function misbehave(source, { before = '', launch, fault }, victims) {
  const comments = [
    ...(fault === undefined ? [] : [`// fault: ${fault}`]),
    ...(fault === 'write' ? victims.map((path) => `// path: ${path}`) : []),
  ]
  const code =
    launch === undefined
      ? [before]
      : [
          '#undef kl_launch',
          ...headers.map((name) => `#include <${name}>`),
          `[[maybe_unused]] static const char* victims[] = {${victims.map((path) => JSON.stringify(path)).join(', ')}};`,
          before,
          `extern "C" KL_EXPORT cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {\n  ${launch}\n}`,
        ]
  // Rename the solution's kl_launch with a macro, which must be defined before the first include.
  const body =
    launch === undefined
      ? source
      : source.replace('#include', '#define kl_launch kl_launch_solution\n#include')
  return [body, ...code, ...comments, '']
    .filter((part, at, all) => part !== '' || at === all.length - 1)
    .join('\n')
}

/**
 * Writes all submissions to a new folder. The folder must not exist yet.
 *
 * @param {string} folder
 * @param {{ starter: string, solution: string }} lab
 * @param {readonly string[]} victims other files, which `write` tries to change
 * @param {number} [most] the maximum number per kind
 * @returns {string[]} the students
 */
export function writeSubmissions(folder, { starter, solution }, victims, most = Infinity) {
  mkdirSync(folder)
  /** @type {string[]} */
  const students = []
  for (const [name, kind] of Object.entries(kinds))
    for (let index = 1; index <= Math.min(kind.count, most); index += 1) {
      students.push(`${name}-${index}`)
      const source = misbehave(name === 'slow' ? starter : solution, kind, victims)
      const text = `// ${name} ${index}\n${source}`
      const place = join(folder, `${name}-${index}`)
      if (kind.answers === undefined) writeFileSync(`${place}.cu`, text)
      else {
        mkdirSync(place)
        writeFileSync(join(place, 'lab.cu'), text)
        writeFileSync(join(place, 'answers.yaml'), kind.answers)
      }
    }
  return students
}

/**
 * Returns the difference between a row and its expected contents, or null.
 *
 * @param {Record<string, string>} row of the CSV
 * @returns {string | null}
 */
export function faultOfRow(row) {
  const kind = kindOf(row['student'] ?? '')
  if (!kind) return 'a student that handed nothing in'
  const { status = '', reason = '' } = row
  const right = row['check:right'] ?? ''
  if (!kind.status.includes(status))
    return `status ${status} (${reason}), and should be ${kind.status.join(' or ')}`
  if (right !== kind.right) return `check right ${right}, and should be ${kind.right}`
  if (!kind.reason.test(reason))
    return `reason ${JSON.stringify(reason)} does not match ${String(kind.reason)}`
  // If no check hung or crashed, an unfinished check is the grader's fault.
  const open = Object.keys(row).filter(
    (name) => name.startsWith('check:') && row[name] === 'unavailable' && right === 'passed',
  )
  if (open.length > 0) return `not checked: ${open.join(', ')}`
  return null
}
