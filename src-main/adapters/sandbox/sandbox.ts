/**
 * Runs an untrusted program in a file system view that contains only the files it needs.
 *
 * The program has no network access or capabilities and cannot gain either. If possible, the
 * operating system enforces the limits. Before any submission runs, a probe attempts every
 * forbidden action inside the sandbox. Only actions that were actually blocked are reported as
 * prevented.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readlink, realpath, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism, homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { pathExists } from '../disk/disk'
import { runProcess, type ProcessCall, type ProcessResult } from '../tools/process'
import { findGroups, type MakeGroup } from './cgroup'
import { Findings, probeScript, type Attempts } from './probe'
import {
  bare,
  bubblewrap,
  removeTree,
  systemFolders,
  unshareWith,
  type Place,
  type Wrap,
} from './view'
import { safeguards, type Isolation } from './isolation'

/** Command prefix for a program that must exit when the grader exits for any reason. */
const tied = ['setpriv', '--pdeathsig', 'KILL', '--']

/**
 * systemd's range of dynamic user ids. No other users have these ids, and containers map the range.
 */
const nobodies = { first: 61184, count: 65520 - 61184 }

/**
 * Returns a different user id each time, so that concurrent submissions cannot access each other's
 * files.
 */
const nobody = (): number => nobodies.first + (randomBytes(4).readUInt32LE(0) % nobodies.count)

const run = (argv: readonly string[], call: Partial<ProcessCall> = {}): Promise<ProcessResult> =>
  runProcess({ timeoutMs: 20_000, ...call, file: argv[0]!, args: argv.slice(1) })

/** Whether a program that sets limits exists and works. */
const works = async (limiter: readonly string[]): Promise<boolean> =>
  (await run([...limiter, 'true'])).exitCode === 0

/**
 * The isolation that is available on this machine. The mechanism is determined once and passed to
 * each judge.
 */
export const Mechanism = z.object({
  by: z.enum(['unshare', 'bubblewrap', 'none']),
  /** Command prefix that terminates a program when the process that started it exits. */
  tie: z.array(z.string()),
  /**
   * Whether programs run with an unused user id. Only root can run programs with an unused user id.
   */
  asNobody: z.boolean(),
  /** Additional options for bubblewrap. */
  options: z.array(z.string()),
})
export type Mechanism = z.infer<typeof Mechanism>

export function wrapOf({ by, tie, asNobody, options }: Mechanism): Wrap {
  if (by === 'unshare') return unshareWith(tie, asNobody ? nobody : null)
  return by === 'bubblewrap' ? bubblewrap(options) : bare(tie)
}

async function candidates(tie: string[]): Promise<Mechanism[]> {
  const help = (await run(['bwrap', '--help'])).stdout
  const closed = /--disable-userns/.test(help) ? ['--unshare-user', '--disable-userns'] : []
  const unshare = { by: 'unshare' as const, tie, options: [] }
  return [
    ...(process.getuid?.() === 0 ? [{ ...unshare, asNobody: true }] : []),
    { ...unshare, asNobody: false },
    { by: 'bubblewrap', tie, asNobody: false, options: closed },
  ]
}

export const Limits = z.object({
  seconds: z.number(),
  /** Total memory limit in bytes for all of the program's processes. */
  memoryBytes: z.number(),
  processes: z.number(),
  outputBytes: z.number(),
  /** Maximum size in bytes of a file that the program writes. */
  fileBytes: z.number(),
  /** Maximum total size in bytes of all files that the program writes. */
  diskBytes: z.number(),
})
export type Limits = z.infer<typeof Limits>

/**
 * Returns the limit on the number of processes and threads. Compilers and profilers have several
 * threads per core.
 */
export const tasksOf = ({ processes }: Limits): number => processes * 8

export interface Sandbox {
  isolation: Isolation
  mechanism: Mechanism
  /** The grader's empty folder at which the program's file system view is mounted. */
  view: string
  readable: readonly string[]
  hidden: readonly string[]
  makeGroup: MakeGroup | null
}

/** Returns a sandbox without isolation, for trusted code or with the user's permission. */
export const openSandbox = (tie: string[] = []): Sandbox => ({
  isolation: {
    by: 'none',
    held: { network: false, processes: false, writing: false, reading: false, rights: false },
    kernel: { memory: false, disk: false },
  },
  mechanism: { by: 'none', tie, asNobody: false, options: [] },
  view: '',
  readable: [],
  hidden: [],
  makeGroup: null,
})

const tools = ['nvcc', 'node']

const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

/**
 * Returns the folders of this environment's tools and libraries that are not system folders. If a
 * toolkit is installed outside the system folders, its whole folder is included.
 *
 * The user's home folder, the temporary folder, and their parents are excluded, because they
 * contain other submissions. Including these folders would also hide the submission's own folder.
 */
async function installations(): Promise<string[]> {
  const apart = await Promise.all(
    [homedir(), tmpdir()].map((path) => realpath(path).catch(() => path)),
  )
  const found: string[] = []
  const add = async (path: string): Promise<boolean> => {
    const real = await realpath(path).catch(() => null)
    if (real === null || apart.some((folder) => isBelow(folder, real))) return false
    found.push(real)
    return true
  }
  for (const folder of (process.env.PATH ?? '').split(':').filter(Boolean))
    for (const tool of tools) {
      const real = await realpath(join(folder, tool)).catch(() => null)
      if (real === null) continue
      const bin = dirname(real)
      if (tool === 'node' || !(await add(dirname(bin)))) await add(real)
    }
  const libraries = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter(Boolean)
  for (const path of [process.env.CUDA_HOME, process.env.CUDA_PATH, ...libraries])
    if (path !== undefined && path !== '') await add(path)
  return found
}

/** Returns real paths. Omits paths inside another path or inside system folders. */
async function readablePaths(wanted: readonly string[]): Promise<string[]> {
  const real = await Promise.all([...wanted, process.execPath].map((path) => realpath(path)))
  const all = [...new Set([...real, ...(await installations())])]
  const system: string[] = []
  for (const folder of systemFolders) {
    const at = await realpath(folder).catch(() => null)
    if (at !== null) system.push(at)
  }
  return all.filter(
    (path) =>
      !system.some((folder) => isBelow(path, folder)) &&
      !all.some((other) => other !== path && isBelow(path, other)),
  )
}

export const placeOf = (
  { view, readable, hidden }: Pick<Sandbox, 'view' | 'readable' | 'hidden'>,
  work: string,
  limits: Limits,
): Place => ({
  ...{ work, view, readable, hidden },
  ...{ diskBytes: limits.diskBytes, fileBytes: limits.fileBytes },
  tasks: tasksOf(limits),
  cpuSeconds: Math.ceil(limits.seconds * availableParallelism()),
})

/**
 * Creates test resources that a submission must not reach. Outside the sandbox, all of these
 * resources are reachable.
 */
async function lures(probe: string, shown: readonly string[]) {
  const sibling = join(probe, 'other')
  await mkdir(sibling)
  const file = join(sibling, 'lab.cu')
  await writeFile(file, 'another submission\n', { mode: 0o666 })
  const servers = await Promise.all(
    [{ path: join(sibling, 'socket') }, { path: `\0${probe}` }, { host: '127.0.0.1', port: 0 }].map(
      async (at) => {
        const server = createServer((socket) => socket.destroy())
        await new Promise((done) => server.on('error', done).listen(at, () => done(null)))
        return server
      },
    ),
  )
  const address = servers[2]!.address()
  const entries: string[] = []
  for (const folder of [homedir(), '/run', '/var/run', '/var/lib'])
    for (const name of (await readdir(folder).catch(() => [] as string[])).slice(0, 200)) {
      const path = join(folder, name)
      if (!shown.some((one) => isBelow(one, path) || isBelow(path, one))) entries.push(path)
    }
  const namespaces: Record<string, string> = {}
  for (const name of ['net', 'pid', 'mnt', 'ipc'])
    namespaces[name] = await readlink(`/proc/self/ns/${name}`).catch(() => '')
  const attempts: Attempts = {
    files: [file],
    entries,
    sockets: [join(sibling, 'socket'), `\0${probe}`],
    port: address !== null && typeof address === 'object' ? address.port : 0,
    namespaces,
  }
  return {
    attempts,
    close: () => {
      for (const server of servers) server.close()
    },
  }
}

/**
 * Creates the test resources and tests every available mechanism. Returns the mechanism that
 * prevents the most actions.
 */
export async function findSandbox(
  limits: Limits,
  view: string,
  { readable: wanted, hidden }: Pick<Place, 'readable' | 'hidden'>,
): Promise<Sandbox> {
  const tie = (await works(tied)) ? tied : []
  const readable = await readablePaths(wanted)
  const makeGroup = await findGroups({ memoryBytes: limits.memoryBytes, tasks: tasksOf(limits) })
  const probe = await realpath(await mkdtemp(join(tmpdir(), 'kernel-ladder-sandbox-')))
  const { attempts, close } = await lures(probe, [...readable, probe])
  let best: { sandbox: Sandbox; score: number } = {
    sandbox: { ...openSandbox(tie), makeGroup },
    score: 0,
  }
  try {
    const work = join(probe, 'work')
    await mkdir(work)
    for (const mechanism of await candidates(tie)) {
      const command = [process.execPath, '-e', probeScript, JSON.stringify(attempts)]
      const place = placeOf({ view, readable, hidden }, work, limits)
      const tried = await run(wrapOf(mechanism)(place, command), {
        ownEnv: true,
        env: { PATH: process.env.PATH ?? '', HOME: work },
      })
      const findings = readFindings(tried.stdout)
      if (!findings?.own) continue
      const held = Object.fromEntries(
        safeguards.map((name) => [name, findings[name].length === 0]),
      ) as Isolation['held']
      const score = 1 + safeguards.filter((name) => held[name]).length
      if (score <= best.score) continue
      const disk = !(await pathExists(join(work, 'own')))
      const { by } = mechanism
      const isolation: Isolation = { by, held, kernel: { memory: makeGroup !== null, disk } }
      best = { sandbox: { isolation, mechanism, view, readable, hidden, makeGroup }, score }
      if (score > safeguards.length) break
    }
    const { sandbox } = best
    return {
      ...sandbox,
      isolation: {
        ...sandbox.isolation,
        kernel: { ...sandbox.isolation.kernel, memory: makeGroup !== null },
      },
    }
  } finally {
    close()
    await removeTree(probe)
  }
}

function readFindings(stdout: string): Findings | null {
  try {
    return Findings.parse(JSON.parse(stdout))
  } catch {
    return null
  }
}
