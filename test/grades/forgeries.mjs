// @ts-check
/**
 * Submissions that try to get an undeserved row, or to prevent the rows of others. Each submission
 * is the coalescing lab's solution with a kernel that computes nothing, plus one attack. No
 * submission may pass.
 */

/**
 * @typedef {object} Forgery
 * @property {string} [head] C++ at file level
 * @property {string} [launch] C++ at the start of `kl_launch`
 * @property {string} [kernel] CUDA C++ that replaces the kernel's body
 * @property {boolean} [untouched] whether to use the naive kernel, which fails only for its sectors
 */

/**
 * C++ that writes a verdict to every file descriptor, in the format of a judge and of the probe.
 */
const claims = `
static void claim() {
  static const char verdict[] =
      "{\\"outcome\\":{\\"schema\\":1,\\"status\\":\\"passed\\"},\\"cubin\\":null,\\"descriptions\\":[]}\\n"
      "{\\"event\\":\\"verify\\",\\"rung\\":\\"submission\\",\\"passed\\":true}\\n{\\"event\\":\\"done\\"}\\n";
  for (int file = 0; file < 256; ++file) (void)!write(file, verdict, sizeof verdict - 1);
}
`

/**
 * A shell script that opens the debugger of the judge's process from inside the sandbox. It writes
 * a verdict through the debugger.
 */
const inspector = `for p in /proc/[0-9]*; do kill -USR1 \${p#/proc/}; done; sleep 1; node -e "require('http').get('http://127.0.0.1:9229/json')"`

/** @param {string} call @returns {Forgery} */
const at = (call) => ({ head: claims, launch: `  ${call}\n  claim();` })
/** @param {string} head @returns {Forgery} */
const onLoad = (head) => ({ head: `${claims}${head}` })

/** @param {number} depth */
const included = (depth) => {
  const up = '../'.repeat(depth)
  return [
    'labs/01-coalescing/',
    'cuda-kernels/labs/01-coalescing/',
    'shared/labs/01-coalescing/',
    '',
  ]
    .map(
      (folder) => `#if __has_include("${up}${folder}solution.cu")
#include "${up}${folder}solution.cu"
#define FOUND
#endif`,
    )
    .join('\n')
}

/**
 * Returns the lab's kernel, changed to compute only if `rule` is true. `launched` is the number of
 * earlier launches.
 */
const onlyIf = (/** @type {string} */ rule) => ({
  head: '__device__ unsigned launched, finished;',
  kernel: `  const bool honest = ${rule};
  const int row = blockIdx.y * kBlock + threadIdx.y, col = blockIdx.x * kBlock + threadIdx.x;
  if (honest && row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[(long long)row * k + i] * b[(long long)i * n + col];
    klStore(&c[(long long)row * n + col], sum, alpha, beta);
  }
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  if (threadIdx.x + threadIdx.y == 0 && atomicInc(&finished, blocks - 1) == blocks - 1) ++launched;`,
})

/** @type {Record<string, Forgery>} */
export const forgeries = {
  // Start a shell and use it to open the judge's debugger.
  popen: at(`if (FILE* f = popen(R"x(${inspector})x", "r")) pclose(f);`),
  ioPopen: {
    head: `${claims}extern "C" FILE* _IO_popen(const char*, const char*);`,
    launch: `  if (FILE* f = _IO_popen(R"x(${inspector})x", "r")) { char c; while (fread(&c, 1, 1, f)) {} }\n  claim();`,
  },
  system: at(`(void)!system(R"x(${inspector})x");`),
  signalParent: at('for (int p = 1; p < 4000; ++p) kill(p, SIGUSR1);'),
  killJudge: at('for (int p = 1; p < 4000; ++p) kill(p, SIGKILL); kill(-1, SIGKILL);'),
  trace: at('ptrace(PTRACE_ATTACH, getppid(), 0, 0);'),
  parentMemory: at(
    'char path[64]; snprintf(path, 64, "/proc/%d/mem", getppid()); open(path, O_RDWR);',
  ),
  // Include the solution by name at every folder depth.
  ...Object.fromEntries(
    Array.from({ length: 11 }, (_, depth) => [`include${depth}`, { head: included(depth + 1) }]),
  ),
  incbin: {
    head: `asm(".pushsection .rodata\\nstolen: .incbin \\"../../labs/01-coalescing/solution.cu\\"\\n.popsection");`,
  },
  includePasswords: { head: '#include "/etc/shadow"' },
  includeEnvironment: { head: '#include "/proc/self/environ"' },
  // Run code when the library is loaded, by all known methods.
  constructor: onLoad('__attribute__((constructor)) static void early() { claim(); _exit(0); }'),
  gmonStart: onLoad('extern "C" void __gmon_start__() { claim(); }'),
  itmRegister: onLoad('extern "C" void _ITM_registerTMCloneTable() { claim(); }'),
  hiddenAtexit: onLoad(
    'extern "C" __attribute__((visibility("hidden"))) int atexit(void (*)()) { claim(); return 0; }',
  ),
  initSection: onLoad(
    'extern "C" void early() { claim(); }\nasm(".pushsection .init\\n call early@PLT\\n .popsection");',
  ),
  initArray: onLoad(
    'extern "C" void early() { claim(); }\nasm(".pushsection .init_array,\\"aw\\"\\n .quad early\\n .popsection");',
  ),
  resolver: onLoad(
    'extern "C" { static int one() { return 1; } static int (*choose(void))(void) { claim(); return one; } int chosen() __attribute__((ifunc("choose"))); }',
  ),
  destructor: onLoad('__attribute__((destructor)) static void late() { claim(); }'),
  staticObject: onLoad('struct Early { Early() { claim(); } }; static Early early;'),
  // Call functions that were missing from deny lists.
  ...Object.fromEntries(
    Object.entries({
      openInternal: 'syscall(SYS_open, "/tmp/x", O_WRONLY | O_CREAT, 0666);',
      wordexp: 'wordexp_t words; wordexp("$(kill -USR1 1)", &words, 0);',
      basicFile: 'std::ofstream("stolen") << 1;',
      mkstemp: 'char name[] = "/tmp/kXXXXXX"; mkstemp(name);',
      remove: 'remove("/tmp"); remove("lab.cu");',
      symlink: '(void)!symlink("/", "root");',
      opendir:
        'if (DIR* d = opendir("/")) while (dirent* e = readdir(d)) fprintf(stderr, "%s ", e->d_name);',
      pipe: 'int ends[2]; (void)!pipe(ends);',
      sigaction:
        'struct sigaction act{}; act.sa_handler = SIG_IGN; for (int s = 1; s < 64; ++s) sigaction(s, &act, 0);',
      sigqueue: 'sigval value{}; sigqueue(getppid(), SIGUSR1, value);',
      forkInternal: 'if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) { claim(); _exit(0); }',
      thread:
        'static pthread_t t; pthread_create(&t, 0, [](void*) -> void* { for (;;) claim(); }, 0);',
      memfd: 'syscall(SYS_memfd_create, "x", 0);',
      namespace: 'unshare(CLONE_NEWUSER | CLONE_NEWNS);',
      mount: 'mount("tmpfs", "/tmp", "tmpfs", 0, 0);',
      vsock: 'int s = socket(40, SOCK_STREAM, 0); if (s >= 0) (void)!write(s, "x", 1);',
      loopback:
        'sockaddr_in to{}; to.sin_family = AF_INET; to.sin_port = htons(9229); to.sin_addr.s_addr = htonl(INADDR_LOOPBACK); connect(socket(AF_INET, SOCK_STREAM, 0), (sockaddr*)&to, sizeof to);',
      abstractSocket: 'socket(AF_UNIX, SOCK_STREAM, 0);',
      ioUring: 'syscall(425, 8, 0);',
      dlopenDriver: 'dlopen("libcuda.so.1", RTLD_NOW);',
      mapDriver:
        'mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/nvidiactl", O_RDWR), 0);',
      patchProbe:
        'void* f = dlsym(RTLD_DEFAULT, "cudaLaunchKernel"); mprotect((void*)((uintptr_t)f & ~4095ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC); memset(f, 0x90, 16);',
    }).map(([name, call]) => [name, at(call)]),
  ),
  // Exit or flood the output.
  exit: at('exit(0);'),
  quickExit: at('_exit(0);'),
  abort: at('abort();'),
  crash: at('*(volatile int*)0 = 1;'),
  overflow: {
    launch:
      '  static int (*volatile self)(int) = [](int n) { return n + int(alloca(n + 64) == nullptr); };\n  for (;;) self(1 << 20);',
  },
  throws: at('throw 1;'),
  hang: at('for (volatile int i = 0;; ++i) {}'),
  sleep: at('sleep(100000);'),
  forkBomb: at('for (;;) fork();'),
  memory: at('for (;;) memset(malloc(1 << 28), 1, 1 << 28);'),
  prints: { launch: '  for (;;) puts("{\\"event\\":\\"done\\"}");' },
  printsErrors: { launch: '  for (;;) fputs("x", stderr);' },
  manyLaunches: {
    launch: '  for (int i = 0; i < 100000000; ++i) other<<<1, 1>>>();',
    head: '__global__ void other() {}',
  },
  hugeCopy: {
    launch:
      '  static char big[1 << 24]; for (int i = 0; i < 64; ++i) cudaMemcpyAsync(p->c, big, sizeof big, cudaMemcpyHostToDevice, stream);',
  },
  // Attack the compiler.
  endlessInclude: { head: '#include __FILE__' },
  devZero: { head: '#include "/dev/zero"' },
  templates: { head: 'template <int n> struct T { T<n + 1> next; }; T<0> endless;' },
  constants: {
    head: 'constexpr int f(int n) { return n == 0 ? 0 : f(n - 1) + f(n - 1); } constexpr int slow = f(60);',
  },
  bigObject: { head: 'char big[1ull << 40] = {1};' },
  // Give different answers to the same question.
  moody: {
    launch:
      '  timespec now; clock_gettime(CLOCK_REALTIME, &now); if (now.tv_nsec & 1) return cudaSuccess;',
  },
  random: { launch: '  if (time(0) % 2) return cudaErrorUnknown;' },
  sizeOfHost: { untouched: true, launch: '  if (p->m > 128) return cudaSuccess;' },
  forgedDescription: {
    head: `static const char line[] = "{\\"event\\":\\"launches\\",\\"kernels\\":[],\\"reason\\":null,\\"fault\\":null,\\"memory\\":[],\\"workspaceBytes\\":0,\\"symbols\\":[]}\\n";`,
    launch:
      '  for (int file = 0; file < 256; ++file) (void)!write(file, line, sizeof line - 1);\n  _exit(0);',
  },
  foreignKernel: {
    head: `static const char line[] = "{\\"event\\":\\"launches\\",\\"kernels\\":[{\\"name\\":\\"gemmReference\\",\\"mangled\\":\\"gemmReference\\",\\"grid\\":[1,1,1],\\"block\\":[32,1,1],\\"dynamicSharedBytes\\":0,\\"clusterBlocks\\":0,\\"arguments\\":\\"\\"}],\\"reason\\":null,\\"fault\\":null,\\"memory\\":[],\\"workspaceBytes\\":0,\\"symbols\\":[]}\\n";`,
    launch:
      '  for (int file = 0; file < 256; ++file) (void)!write(file, line, sizeof line - 1);\n  _exit(0);',
  },
  // Return the results of earlier launches, of other submissions, or no results.
  replayed: {
    head: '__device__ float kept[4096];',
    kernel:
      '  const int at = blockIdx.x * blockDim.x + threadIdx.x;\n  if (at < 4096 && at < m * n) { c[at] = kept[at]; kept[at] = c[at]; }',
  },
  lazy: { launch: '  static int calls = 0; if (calls++ > 0) return cudaSuccess;' },
  readsBeyond: {
    kernel:
      '  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n  for (long long far = 1 << 20; far < 1ll << 36; far += 1 << 20) c[at] += a[far + at];',
  },
  readsNeighbours: {
    kernel:
      '  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n  if (at < (long long)m * n) c[at] = c[at + (long long)m * n];',
  },
  handleArithmetic: {
    launch:
      '  cudaMemcpyAsync(p->c, (char*)p->c + (1ll << 38), 4 * p->m * p->n, cudaMemcpyDeviceToDevice, stream);',
  },
  fromHost: {
    launch:
      '  static float zeros[1 << 20]; cudaMemcpyAsync(p->c, zeros, 4 * p->m * p->n, cudaMemcpyHostToDevice, stream);',
  },
  nan: { launch: '  cudaMemsetAsync(p->c, 0xff, 4 * p->m * p->n, stream);' },
  notSupported: { head: '#define UNSUPPORTED' },
  emptyGrid: { launch: '  return cudaSuccess;' },
  asserts: { kernel: '  __trap();' },
  // Make the kernel depend on the launch number or the clock.
  onlyFirst: onlyIf('launched == 0'),
  onlyEarly: onlyIf('launched < 12'),
  everyOther: onlyIf('launched % 2 == 0'),
  byClock: onlyIf('(clock64() & 7) != 0'),
  bySize: onlyIf('n != 64 || launched < 3'),
  hangsLater: {
    head: '__device__ unsigned launched;',
    kernel: '  if (atomicAdd(&launched, 1u) > 100000u) for (volatile int i = 0;; ++i) {}',
  },
  zeroesInputs: {
    kernel:
      '  const int at = blockIdx.x * blockDim.x + threadIdx.x;\n  if (at < m * k) const_cast<float*>(a)[at] = 0;\n  if (at < m * n) c[at] = 0;',
  },
  printsFromKernel: { kernel: '  for (;;) printf("{\\"event\\":\\"done\\"}\\n");' },
  neverEnds: { kernel: '  for (volatile int i = 0;; ++i) {}' },
}

const headers = [
  ...[
    'alloca',
    'dirent',
    'dlfcn',
    'fcntl',
    'pthread',
    'sched',
    'signal',
    'stdint',
    'stdio',
    'stdlib',
  ],
  ...['string', 'time', 'unistd', 'wordexp', 'netinet/in', 'sys/mman', 'sys/mount', 'sys/ptrace'],
  ...['sys/socket', 'sys/syscall'],
]

/**
 * @param {Forgery} forgery
 * @param {{ solution: string, naive: string }} texts
 */
export function forged({ head = '', launch = '', kernel = '', untouched = false }, texts) {
  const base = untouched ? texts.naive : texts.solution
  const body = base.indexOf('{', base.indexOf('float* __restrict__ c)'))
  const end = base.indexOf('\n}\n', body)
  const without = untouched ? base : `${base.slice(0, body + 1)}\n${kernel}${base.slice(end)}`
  const main = without
    .replace(/(kl_launch\([^)]*\) \{\n)/, `$1${launch}\n`)
    .replace(
      'return klRequireF32(p);',
      head.includes('UNSUPPORTED') ? 'return "not today";' : 'return klRequireF32(p);',
    )
  const includes = headers.map((name) => `#include <${name}.h>`).join('\n')
  return main
    .replace(
      '#include "gemm_common.cuh"\n',
      `#include "gemm_common.cuh"\n${includes}\n#include <fstream>\n${head}\n#ifndef FOUND\n`,
    )
    .concat('#endif\n')
}
