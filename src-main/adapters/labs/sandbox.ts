/**
 * Runs a program that is not trusted: cut off from the network, in process and mount namespaces of its
 * own, everything but its folder read-only, as far as this system allows; and watched for memory and
 * processes. What the system does not allow is said, not pretended.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathExists } from '../disk/disk'
import { descendants, runProcess, type ProcessCall, type ProcessResult } from '../tools/process'

export interface Isolation {
  /** By which means; `none` where the system offers none. */
  by: 'unshare' | 'bubblewrap' | 'none'
  network: boolean
  /** Processes cannot outlive their submission. */
  processes: boolean
  /** Nothing outside its folder can be written. */
  files: boolean
}

/** SIOCSIFFLAGS with IFF_UP for `lo`, where there is neither ip nor ifconfig. */
const loopbackUp =
  'import socket,fcntl,struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'

/**
 * Makes every mount read-only but the folder `$1`, and takes the loopback up, over which ncu talks to
 * itself. Device files stay as they are: a GPU is one.
 */
const readOnlyScript = `
work=$1; shift
mount --make-rprivate / && mount --bind "$work" "$work" || exit 125
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || python3 -c '${loopbackUp}' 2>/dev/null
while read -r _ _ _ _ point options _; do
  point=$(printf '%b' "$point")
  case "$point" in /proc|/proc/*|/sys|/sys/*|/dev|/dev/*|"$work"|"$work"/*) continue;; esac
  mount -o "remount,bind,ro,\${options#r?,}" "$point" 2>/dev/null
done < /proc/self/mountinfo
mount -t tmpfs -o size=1g tmpfs /dev/shm 2>/dev/null
cd "$work" && exec "$@"
`

/** Ends with the grader, however that comes to end. Forgotten where a user namespace is entered, so it comes after. */
const tied = ['setpriv', '--pdeathsig', 'KILL', '--']

type Wrap = (work: string, command: readonly string[]) => string[]

const namespaces = ['--pid', '--mount', '--ipc', '--fork', '--kill-child', '--mount-proc']

const unshareWith =
  (user: readonly string[], tie: readonly string[], ...own: string[]): Wrap =>
  (work, command) => [
    ...(user.length > 0 ? ['unshare', ...user, '--'] : []),
    ...tie,
    ...['unshare', ...own, ...namespaces, '--'],
    ...['sh', '-c', readOnlyScript, 'sh', work, ...command],
  ]

const bubblewrap: Wrap = (work, command) => [
  ...['bwrap', '--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', '--proc', '/proc'],
  ...['--bind', work, work, '--tmpfs', '/dev/shm', '--chdir', work],
  ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--die-with-parent', '--', ...command],
]

const bare =
  (tie: readonly string[]): Wrap =>
  (_work, command) => [...tie, ...command]

/**
 * In the order of preference. Root keeps its rights, which counters may need; others become root of a
 * user namespace. A network of its own without a loopback would cost every submission its counters, so
 * where none can be had the network stays in reach, and that is said.
 */
const rights =
  process.getuid?.() === 0 ? [[], ['--user', '--map-root-user']] : [['--user', '--map-root-user']]
const candidates = (tie: readonly string[]): { by: Isolation['by']; wrap: Wrap }[] => [
  ...rights.map((user) => ({ by: 'unshare' as const, wrap: unshareWith(user, tie, '--net') })),
  { by: 'bubblewrap', wrap: bubblewrap },
  ...rights.map((user) => ({ by: 'unshare' as const, wrap: unshareWith(user, tie) })),
]

const run = (argv: readonly string[], call: Partial<ProcessCall> = {}): Promise<ProcessResult> =>
  runProcess({ timeoutMs: 20_000, ...call, file: argv[0]!, args: argv.slice(1) })

/** Whether a program that runs another with some limit is here and does. */
const works = async (limiter: readonly string[]): Promise<boolean> =>
  (await run([...limiter, 'true'])).exitCode === 0

export interface Sandbox {
  isolation: Isolation
  wrap: Wrap
}

/** Tries what there is, and what it keeps from happening. */
export async function findSandbox(): Promise<Sandbox> {
  const tie = (await works(tied)) ? tied : []
  const probe = await mkdtemp(join(tmpdir(), 'kernel-ladder-sandbox-'))
  try {
    const work = join(probe, 'work')
    await mkdir(work)
    for (const { by, wrap } of candidates(tie)) {
      const inside = join(work, 'inside')
      const outside = join(probe, 'outside')
      const script = `touch "$1" && { touch "$2"; grep -c : /proc/net/dev; echo pid $$; grep -qw 127.0.0.1 /proc/net/fib_trie && echo loopback; }`
      const tried = await run(wrap(work, ['sh', '-c', script, 'sh', inside, outside]))
      if (tried.outcome !== 'exited' || !(await pathExists(inside))) continue
      const isolation: Isolation = {
        by,
        // The loopback alone, below two lines of headings that hold no colon.
        network: /^1$/m.test(tried.stdout),
        processes: /^pid \d{1,2}$/m.test(tried.stdout),
        files: !(await pathExists(outside)),
      }
      const loopback = /^loopback$/m.test(tried.stdout)
      if (isolation.files && loopback) return { isolation, wrap }
      await rm(outside, { force: true })
      await rm(inside, { force: true })
    }
    return {
      isolation: { by: 'none', network: false, processes: false, files: false },
      wrap: bare(tie),
    }
  } finally {
    await rm(probe, { recursive: true, force: true })
  }
}

export interface Limits {
  seconds: number
  /** Resident memory of all its processes together. */
  memoryBytes: number
  processes: number
  outputBytes: number
  /** The largest file it may write. */
  fileBytes: number
}

export type SandboxResult = ProcessResult & {
  /** Why it was ended before its time, as a sentence. */
  stopped: string | null
}

const pageBytes = 4096
const watchMs = 150

async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  return Number(text.split(' ')[1] ?? 0) * pageBytes
}

/** Ends what still runs with this word in its environment: it has left its process tree. */
async function sweep(mark: string): Promise<void> {
  for (const name of await readdir('/proc').catch(() => [] as string[])) {
    if (!/^\d+$/.test(name)) continue
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
    if (!environment.includes(mark)) continue
    try {
      process.kill(Number(name), 'SIGKILL')
    } catch {
      // It has gone by itself.
    }
  }
}

/** The program in the sandbox, its folder the only place it may write where the system allows that. */
export async function runSandboxed(
  { wrap }: Sandbox,
  call: { work: string; command: readonly string[]; env: Record<string, string> },
  limits: Limits,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const mark = `KERNEL_LADDER_GRADED=${randomBytes(12).toString('hex')}`
  const [markName, markValue] = mark.split('=') as [string, string]
  const abort = new AbortController()
  let stopped: string | null = null
  const stop = (why: string): void => {
    stopped ??= why
    abort.abort()
  }
  const watch = async (pid: number): Promise<void> => {
    const tree = [pid, ...(await descendants(pid))]
    if (tree.length > limits.processes)
      stop(`It was stopped: it had more than ${limits.processes} processes.`)
    const sizes = await Promise.all(tree.map(residentBytes))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    if (bytes > limits.memoryBytes)
      stop(`It was stopped: it took more than ${(limits.memoryBytes / 2 ** 30).toFixed(1)} GiB.`)
  }
  let timer: NodeJS.Timeout | undefined
  const limiter = ['prlimit', `--fsize=${limits.fileBytes}`, '--core=0', '--']
  const argv = wrap(call.work, [...((await works(limiter)) ? limiter : []), ...call.command])
  try {
    const result = await run(argv, {
      cwd: call.work,
      env: { ...call.env, [markName]: markValue },
      timeoutMs: limits.seconds * 1000,
      outputLimit: limits.outputBytes,
      signal: AbortSignal.any([signal, abort.signal]),
      onSpawn: (pid) => {
        timer = setInterval(() => void watch(pid), watchMs)
      },
    })
    if (result.outcome === 'timeout') stopped = `It was stopped after ${limits.seconds} s.`
    if (result.outcome === 'flooded') stopped = 'It was stopped: it printed without end.'
    return { ...result, stopped }
  } finally {
    clearInterval(timer)
    await sweep(mark)
  }
}

/** What the sandbox does and does not keep from happening, for whoever reads the grades. */
export function isolationSentence({ by, network, processes, files }: Isolation): string {
  if (by === 'none')
    return 'Neither unshare nor bubblewrap works here: submissions run as you, with the network and your files in reach. Only time, memory, processes and output are limited.'
  const not = [
    ...(network ? [] : ['the network']),
    ...(processes ? [] : ['processes that leave their tree']),
    ...(files ? [] : ['files elsewhere']),
  ]
  return `Each submission runs in namespaces of its own (${by})${not.length === 0 ? ', without network, and writes nowhere but in its folder' : `; not kept off: ${not.join(', ')}`}.`
}
