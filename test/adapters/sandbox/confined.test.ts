/** Tests that a submission's host code can reach only its own memory and readable files. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confinedTools, type Description } from '../../../src-main/adapters/sandbox/confined'
import { isIsolated } from '../../../src-main/adapters/sandbox/isolation'
import { findSandbox, type Sandbox } from '../../../src-main/adapters/sandbox/sandbox'
import { diskBuildCache } from '../../../src-main/adapters/disk/build-cache'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import { shippedKernels } from '../../services/support'
import { parseProbedLaunches } from '../../../src-main/parsers/cuda/launch-probe'

const limits = {
  ...{ seconds: 20, memoryBytes: 2 ** 30, processes: 64, outputBytes: 2 ** 20 },
  ...{ fileBytes: 2 ** 26, diskBytes: 2 ** 26 },
}

const nvcc = await findTool('nvcc')
/**
 * The CUDA toolkit's folder contains nvcc's folder. If nvcc is a wrapper script, use NVIDIA's
 * default folder.
 */
const toolkit = [nvcc === null ? '' : join(dirname(await realpath(nvcc)), '..'), '/usr/local/cuda']
  .filter((folder) => existsSync(join(folder, 'include/cuda.h')))
  .at(0)

/** Each attempt that succeeds sets a bit in the return value of `kl_launch`. */
const attempts = [
  ['a socket to the host of a virtual machine', 'socket(40, SOCK_STREAM, 0) >= 0'],
  ['a socket to the network', 'socket(AF_INET, SOCK_STREAM, 0) >= 0'],
  ['a socket to this machine', 'socket(AF_UNIX, SOCK_STREAM, 0) >= 0'],
  ['a process', 'forks()'],
  ['another program', 'posix_spawn(&child, "/bin/true", 0, 0, none, none) == 0'],
  ['a thread', 'pthread_create(&thread, 0, idle, 0) == 0'],
  ['a file to write to', 'open("written", O_WRONLY | O_CREAT, 0600) >= 0'],
  ['the judge, to signal it', 'kill(getppid(), 0) == 0'],
  ['a trace of itself', 'ptrace(PTRACE_TRACEME, 0, 0, 0) == 0'],
  ['a namespace', 'unshare(CLONE_NEWUSER) == 0'],
  ['executable memory shared by name', 'memfd_create("x", 0) >= 0'],
  ['the folders of others', 'open("@outside", O_RDONLY) >= 0'],
  ['a GPU', 'open("/dev/nvidia0", O_RDONLY) >= 0 || open("/dev/nvidiactl", O_RDONLY) >= 0'],
] as const

/**
 * Attempts that do no damage if they succeed. The test also runs these harmless attempts without
 * confinement.
 */
const harmless = ['a process', 'a thread', 'the folders of others']

const hostile = (outside: string, tried: readonly string[]): string => `
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>
static pid_t child;
static pthread_t thread;
static char* none[] = {nullptr};
static void* idle(void*) { return nullptr; }
static bool forks() {
  const pid_t made = fork();
  if (made == 0) _exit(0);
  return made > 0;
}
static int got;
// Before anything is called, when the library is loaded.
__attribute__((constructor)) static void early() {
${attempts
  .map(([what, test], bit) =>
    tried.includes(what) ? `  if (${test.replace('@outside', outside)}) got |= 1 << ${bit};` : '',
  )
  .join('\n')}
}
extern "C" int kl_launch(const void*, void*) { return 100000 + got; }
`

describe.skipIf(toolkit === undefined)('host code that describes launches', () => {
  let dir: string
  let probe: string
  let sandbox: Sandbox
  beforeAll(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), 'kl-test-')))
    probe = join(dir, 'kl-launches')
    execFileSync('c++', [
      ...['-std=c++17', '-O0', '-rdynamic', '-I', join(toolkit!, 'include'), '-o', probe],
      ...[join(shippedKernels, 'probe/launches.cpp'), '-ldl'],
    ])
    const view = join(dir, 'view')
    await mkdir(view)
    sandbox = await findSandbox(limits, view, { readable: [], hidden: [] })
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  const library = async (name: string, source: string): Promise<string> => {
    const path = join(dir, `${name}.so`)
    await writeFile(join(dir, `${name}.cpp`), source)
    execFileSync('c++', ['-shared', '-fPIC', '-o', path, join(dir, `${name}.cpp`)])
    return path
  }

  /** First lines of a fake nvcc script that lists no included files and writes to `$built`. */
  const named =
    'while [ "$1" != -MF ]; do shift; done; included=$2; built=$4; echo built: > "$included"\n'
  const compile = (cwd: string, [file, ...args]: string[], output: string) => {
    const { mechanism, view, readable, hidden } = sandbox
    const { toolbox } = confinedTools({
      confinement: { mechanism, view, readable: [...readable], hidden: [...hidden] },
      ...{ limits, submission: 'mine', known: null, folder: join(dir, 'plans') },
      gpuTools: () => Promise.reject(new Error('There is no GPU.')),
    })
    return toolbox(null).exec({
      ...{ tool: 'nvcc', key: 'nvcc/mine', file: file!, cwd, args: [...args, '-o', output] },
    })
  }
  const compiled = async (...args: Parameters<typeof compile>): Promise<void> => {
    const result = await compile(...args)
    expect(result.exitCode, result.stderr).toBe(0)
  }

  const described = async (path: string, known: Description[] | null = null) => {
    const { mechanism, view, readable, hidden } = sandbox
    const { toolbox, descriptions } = confinedTools({
      confinement: { mechanism, view, readable: [...readable], hidden: [...hidden] },
      ...{ limits, submission: 'mine', known, folder: join(dir, 'plans') },
      gpuTools: () => Promise.reject(new Error('There is no GPU.')),
    })
    const result = await toolbox(null).exec({
      ...{ tool: 'runner', key: 'runner/launches-mine', file: probe, timeoutMs: 10_000 },
      args: ['--struct', '8', '--field', '0:i64:1', '--sm', '90', '--library', path],
    })
    return { result, answer: parseProbedLaunches(result.stdout), descriptions: descriptions() }
  }

  it('cannot access anything that affects a grade, even while it is being loaded', async () => {
    const outside = join(dir, 'other.cu')
    await writeFile(outside, 'another submission', { mode: 0o666 })
    const named: string[] = attempts.map(([what]) => what)
    const path = await library('hostile', hostile(outside, named))
    const { answer, result } = await described(path)
    const gotten = (text: string): string[] => {
      const got = Number(/CUDA error (\d+)/.exec(text)?.[1]) - 100_000
      expect(got, result.stderr).toBeGreaterThanOrEqual(0)
      return named.filter((_, bit) => (got >> bit) & 1)
    }
    // Without namespaces, only file permissions protect other users' files.
    const always = isIsolated(sandbox.isolation) ? named : named.slice(0, 11)
    expect(gotten(answer?.reason ?? '').filter((what) => always.includes(what))).toEqual([])
    // Trusted libraries are not confined, so running the same attempts in one proves that the
    // attempts work.
    const trusted = await library('trusted', hostile(outside, harmless))
    const words = ['--struct', '8', '--field', '0:i64:1', '--sm', '90', '--library', trusted]
    expect(gotten(execFileSync(probe, words, { encoding: 'utf8' }))).toEqual(harmless)
  })

  it('cannot find a solution or another submission in the folder where it is compiled', async () => {
    const grading = join(dir, 'grading')
    for (const [folder, file] of [
      ['labs/a', 'solution.cu'],
      ['grading/cache/src/labs/a', 'solution.cu'],
      ['grading/0/labs/b', 'other.cu'],
      ['grading/1/labs/b', 'lab.cu'],
    ] as const) {
      await mkdir(join(dir, folder), { recursive: true })
      await writeFile(join(dir, folder, file), '// code')
    }
    // A fake nvcc that reads every file that the code could include.
    await writeFile(
      join(grading, '1', 'nvcc.sh'),
      `${named}find / -path /proc -prune -o -name "*.cu" -print > "$built" || true\n`,
    )
    const output = join(dir, 'seen')
    await compiled(join(grading, '1'), ['sh', 'nvcc.sh', 'labs/b/lab.cu'], output)
    const seen = (await readFile(output, 'utf8')).split('\n').filter(Boolean)
    const own = `${basename(dir)}/grading/1/labs/b/lab.cu`
    if (isIsolated(sandbox.isolation))
      expect(seen.filter((path) => path.includes(basename(dir)))).toEqual([`/${own}`])
    else expect(seen).toContain(join(dir, '..', own))
  })

  it("can include only files on the compiler's search path, wherever this program is installed", async () => {
    const cwd = join(dir, 'including')
    await mkdir(cwd)
    const includes = (files: string): Promise<void> =>
      writeFile(
        join(cwd, 'nvcc'),
        `#!/bin/sh
if [ "$1" = -E ]; then
  echo "#include <...> search starts here:" >&2
  echo " /opt/cuda/bin/../include" >&2
  echo "End of search list." >&2
  exit
fi
${named}echo 'built : ${files}' > "$included"; echo code > "$built"
`,
        { mode: 0o755 },
      )
    const output = join(dir, 'included')
    await includes(
      'lab.cu include/a.h \\\n  /opt/cuda/include/cuda.h /opt/cuda/include/x/../my\\ y.h',
    )
    expect((await compile(cwd, ['./nvcc'], output)).stderr).toBe('')
    await rm(output)
    const solution = '/usr/lib/node_modules/kernel-ladder/labs/01/solution.cu'
    await includes(`lab.cu ${solution}`)
    const refused = await compile(cwd, ['./nvcc'], output)
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain(`${solution} is neither`)
    expect(existsSync(output)).toBe(false)
  })

  // Machine code with line information contains the source file's path and time. The path and the
  // time must be fixed so that a grade is reproducible.
  it('is compiled at a fixed path and with a fixed time, regardless of the cache location', async () => {
    const look = `${named}(pwd; stat -c "%n %Y" include/a.h lab.cu) > "$built"\n`
    const sources = new Map([
      ['lab.cu', '// code'],
      ['include/a.h', '// more'],
      ['nvcc.sh', look],
    ])
    const seen: string[] = []
    for (const root of ['here', 'there']) {
      const cache = diskBuildCache(join(dir, root), null)
      const { sourceDir } = await cache.slot({
        ...{ sources, flags: [], compiler: '', output: 'lab.so' },
      })
      const output = join(dir, `${root}-seen`)
      await compiled(sourceDir, ['sh', 'nvcc.sh', 'lab.cu'], output)
      seen.push(await readFile(output, 'utf8'))
    }
    expect(seen[0]).toMatch(/ 315532800\nlab\.cu 315532800\n$/)
    if (isIsolated(sandbox.isolation)) expect(seen[0]).toBe(seen[1])
  })

  it('is asked for its launch description only once, so a changing description has no effect', async () => {
    const path = await library(
      'moody',
      `#include <time.h>
extern "C" int kl_launch(const void*, void*) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return 100000 + int(now.tv_nsec % 100000);
}`,
    )
    const first = await described(path)
    const again = await described(path, first.descriptions)
    expect(again.answer).toEqual(first.answer)
    expect(again.descriptions).toEqual(first.descriptions)
  })

  it('affects only its own launches if it exits, hangs or prints a wrong answer', async () => {
    const ends = await library(
      'ends',
      '#include <unistd.h>\nextern "C" int kl_launch(const void*, void*) { _exit(0); }',
    )
    expect((await described(ends)).answer).toBeNull()
    const prints = await library(
      'prints',
      `#include <unistd.h>
extern "C" int kl_launch(const void*, void*) {
  const char line[] = "{\\"event\\":\\"launches\\",\\"kernels\\":[{\\"name\\":\\"a\\\\u001b[2J\\",\\"mangled\\":\\"a b\\","
    "\\"grid\\":[1,1,1],\\"block\\":[4096,1,1],\\"dynamicSharedBytes\\":0,\\"clusterBlocks\\":0}],"
    "\\"reason\\":null,\\"fault\\":null,\\"verdict\\":\\"passed\\"}\\n";
  for (int file = 0; file < 128; ++file) (void)!write(file, line, sizeof line - 1);
  _exit(0);
}`,
    )
    const { result, answer } = await described(prints)
    expect(result.stdout).toContain('verdict')
    expect(answer).toBeNull()
    const nothing = { event: 'launches', kernels: [], reason: null, fault: null }
    expect(parseProbedLaunches(JSON.stringify(nothing))).toBeNull()
  })
})
