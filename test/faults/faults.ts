/**
 * Injects every fault that this machine can simulate into every stage of a command, with fake
 * tools. After each fault, earlier sessions must be unchanged and the store must be intact. If the
 * program had time to save, finished results must be saved. After the next command, no process and
 * no hidden folder may remain.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { leftProcesses } from '../gpu/submissions.mjs'
import { ncuReport } from '../captures'
import { openRemote, type Remote } from './remote'
import { putFakes } from '../fakes/program.mjs'

const root = join(import.meta.dirname, '../..')
const bundle = join(root, 'dist/cli/kernel-ladder.mjs')

/** A machine with fake tools and a store that contains one session. */
interface Bench {
  dir: string
  store: string
  env: Record<string, string>
  /** Hash of all files that the fault must not change. */
  before: string
  /** The remote machine, for stages that use one. */
  remote?: Remote
}

export interface Stage {
  name: string
  words: (bench: Bench) => string[]
  /** Delays in the fake tools that keep the stage running until the test injects its own fault. */
  lasting?: Record<string, string>
  /**
   * Output that marks the start of the stage. If no output marks the start, the fault is injected
   * at several times within the usual duration.
   */
  says?: string
  /**
   * Rungs that already have a time. After a request to stop, the stage must save the results of the
   * timed rungs.
   */
  saves?: string[]
  /** Whether the stage runs on a remote machine. */
  isRemote?: boolean
}

export interface Fault {
  name: string
  strike?: (child: ChildProcess, bench: Bench) => void
  /** Sets up the environment for the whole command. */
  around?: (bench: Bench) => Around | null
  /** The stages that the fault applies to. The default is all stages. */
  only?: string[]
  /** Whether the program has time to save its results. */
  graceful?: boolean
  /**
   * Whether to run the stage without `lasting` faults, because the program continues after the
   * fault.
   */
  briefly?: boolean
}

interface Around {
  env?: Record<string, string>
  /** Arguments of a wrapper command that precede the program. */
  wrap?: string[]
  /** Number of programs to run at the same time. */
  programs?: number
  after?: () => void
}

const rungs = ['01_naive', '02_coalesced', '03_shared_tile']
const run = (...more: string[]): string[] => [
  ...['run', '--ladder', 'gemm-fp32', '--size', '1024', '--rungs', rungs.join(',')],
  ...more,
]
const recorded = 'recorded:gemm-fp32-h200-1024'

export const stages: readonly Stage[] = [
  {
    name: 'build',
    words: () => run('--profile', 'none'),
    lasting: { FAKE_FAULTS: '02_coalesced=slow-build' },
    says: 'Building',
  },
  {
    name: 'measure',
    words: () => run('--profile', 'none', '--timeout', '600'),
    lasting: { FAKE_FAULTS: '02_coalesced=hang' },
    // The rung's line appears when the first rung has been timed.
    says: '01_naive  ',
    saves: ['01_naive'],
  },
  { name: 'profile and save', words: () => run() },
  { name: 'import', words: ({ dir }) => ['import', join(dir, 'two.ncu-rep')] },
  {
    name: 'report',
    words: ({ dir }) => ['report', recorded, '--format', 'html', '--out', join(dir, 'report.html')],
  },
  {
    name: 'sanitize',
    words: () => ['sanitize', '--ladder', 'gemm-fp32', '--rungs', '02_coalesced', '--size', '64'],
    lasting: { FAKE_FAULTS: '02_coalesced=sanitizer-hang' },
  },
  {
    name: 'regress',
    words: () => ['regress', ...run().slice(1), '--against', recorded, '--rounds', '6'],
  },
  {
    name: 'grade',
    words: ({ dir }) => [
      ...['lab', 'grade', join(dir, 'handed-in'), '--lab', '01-coalescing', '--jobs', '2'],
      ...['--unisolated', '--readable', root, '--timeout', '40'],
    ],
    says: 'submissions',
  },
  {
    name: 'tune',
    words: () => [
      ...['tune', '--ladder', 'gemm-fp32', '--rung', '03_shared_tile', '--size', '1024'],
    ],
  },
  {
    name: 'remote',
    words: () => [...run('--profile', 'none'), '--target', 'titan'],
    isRemote: true,
  },
]

const twice = (child: ChildProcess): void => {
  child.kill('SIGINT')
  setTimeout(() => child.kill('SIGINT'), 1100)
}

/** Mounts an in-memory disk with a mount option, such as its size, at the store's folder. */
function disk({ dir }: Bench, option: string): Around | null {
  const folder = join(dir, 'disk')
  mkdirSync(folder)
  const args = ['-t', 'tmpfs', '-o', option, 'tmpfs', folder]
  if (spawnSync('mount', args).status !== 0) return null
  return {
    env: { KERNEL_LADDER_DATA: folder },
    after: () => spawnSync('umount', ['-l', folder]),
  }
}

/**
 * Mounts a file system at the store's folder, with a size limit that also applies to root.
 */
function quota({ dir }: Bench, most: string): Around | null {
  const folder = join(dir, 'disk')
  const image = join(dir, 'image')
  mkdirSync(folder)
  const after = (): void => {
    spawnSync('umount', ['-l', folder])
    rmSync(image, { force: true })
  }
  const steps = [
    ['truncate', '-s', '128M', image],
    ['mkfs.btrfs', '-q', '-M', image],
    ['mount', '-o', 'loop', image, folder],
    ['btrfs', 'quota', 'enable', folder],
    ['btrfs', 'subvolume', 'create', join(folder, 'own')],
    ['btrfs', 'qgroup', 'limit', most, join(folder, 'own')],
    ['umount', folder],
    ['mount', '-o', 'loop,subvol=own', image, folder],
  ]
  const isThere = steps.every(([name, ...words]) => spawnSync(name!, words).status === 0)
  if (isThere) return { env: { KERNEL_LADDER_DATA: folder }, after }
  after()
  return null
}

/** The command prefix that runs a program as if on another machine. */
const elsewhere = [
  ...['unshare', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc', '/bin/sh', '-c'],
  ...['hostname "host-$(date +%N)"; exec "$@"', 'sh'],
]

const ofRuns = ['build', 'measure', 'profile and save', 'regress']

export const faults: readonly Fault[] = [
  { name: 'SIGKILL', strike: (child) => child.kill('SIGKILL') },
  { name: 'SIGTERM', strike: (child) => child.kill('SIGTERM'), graceful: true },
  { name: '^C', strike: (child) => child.kill('SIGINT'), graceful: true },
  { name: '^C twice', strike: twice, graceful: true },
  {
    // Kill the parent shell and close its streams. The program must continue, save its results, and
    // exit.
    name: 'parent killed',
    briefly: true,
    around: () => ({ wrap: ['/bin/sh', '-c', '"$@"; true', 'sh'] }),
    strike: (child) => {
      child.stderr!.destroy()
      child.stdout!.destroy()
      child.kill('SIGKILL')
    },
  },
  { name: 'disk full', around: (bench) => disk(bench, 'size=300k'), only: withStore() },
  { name: 'quota full', around: (bench) => quota(bench, '300k'), only: withStore() },
  {
    name: 'out of inodes',
    around: (bench) => disk(bench, 'size=8m,nr_inodes=12'),
    only: withStore(),
  },
  {
    // A file size limit makes a write fail in the middle of a file.
    name: 'file size limit',
    around: () => ({ wrap: ['prlimit', '--fsize=20000:20000', '--'] }),
    only: withStore(),
  },
  { name: 'out of memory', around: () => ({ env: { NODE_OPTIONS: '--max-old-space-size=28' } }) },
  { name: 'read-only', around: (bench) => disk(bench, 'size=1m,ro'), only: withStore() },
  {
    name: 'out of descriptors',
    around: () => ({ wrap: ['prlimit', '--nofile=26:26', '--'] }),
  },
  {
    name: 'clock set back',
    around: ({ dir }) => {
      const file = join(dir, 'clock.mjs')
      // Set the clock back by an hour during the run.
      writeFileSync(
        file,
        'const now = Date.now, from = now() + 700; Date.now = () => now() - (now() > from ? 36e5 : 0)\n',
      )
      return { env: { NODE_OPTIONS: `--import=${file}` } }
    },
  },
  { name: 'store shared by three', around: () => ({ programs: 3 }), only: withStore() },
  {
    name: 'store shared by two hosts',
    around: () => ({ programs: 2, wrap: elsewhere }),
    only: withStore(),
  },
  {
    name: 'connection killed',
    strike: (_child, { remote }) => remote!.cut(),
    only: ['remote'],
    graceful: true,
  },
  {
    name: 'ncu killed',
    around: () => ({ env: { FAKE_NCU: 'killed' } }),
    only: ['profile and save'],
    graceful: true,
  },
  {
    name: 'driver lost',
    around: () => ({ env: { FAKE_FAULTS: '02_coalesced=gpu-lost:no-device' } }),
    only: ofRuns.slice(1),
    graceful: true,
  },
]

function withStore(): string[] {
  return ['build', 'measure', 'profile and save', 'import', 'tune', 'remote']
}

export const applies = (stage: Stage, fault: Fault): boolean =>
  fault.only === undefined || fault.only.includes(stage.name)

/** Returns a hash over every file in the folders. */
function hashOf(...folders: string[]): string {
  const hash = createHash('sha256')
  for (const folder of folders)
    for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
      const path = join(folder, name)
      hash.update(relative(folder, path))
      if (statSync(path).isFile()) hash.update(readFileSync(path))
    }
  return hash.digest('hex')
}

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  text: string
}

function start(bench: Bench, words: string[], { env = {}, wrap = [] }: Around = {}) {
  const argv = [...wrap, process.execPath, bundle, ...words]
  const child = spawn(argv[0]!, argv.slice(1), {
    env: { ...bench.env, ...bench.remote?.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const listeners: (() => void)[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
      for (const listener of listeners) listener()
    })
  return {
    child,
    says: (word: string) =>
      new Promise<void>((done) => {
        listeners.push(() => text.includes(word) && done())
        child.on('exit', () => done())
      }),
    ended: new Promise<Ended>((done) => {
      child.on('exit', (code, signal) => setTimeout(() => done({ code, signal, text }), 50))
    }),
  }
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

async function until(what: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms
  while (!what()) {
    if (performance.now() > end) return false
    await pause(100)
  }
  return true
}

/**
 * Creates a machine with one saved session, warm caches, a report to import, and submissions to
 * grade.
 */
export async function openBench(): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'kl-faults-'))
  const store = join(dir, 'sessions')
  const env: Record<string, string> = {
    PATH: [
      putFakes(join(dir, 'fakes')),
      ...[dirname(process.execPath), '/usr/sbin', '/usr/bin', '/bin'],
    ].join(delimiter),
    HOME: dir,
    TMPDIR: join(dir, 'tmp'),
    KERNEL_LADDER_CACHE: join(dir, 'cache'),
    KERNEL_LADDER_DATA: dir,
    KERNEL_LADDER_PATH_ONLY: '1',
  }
  mkdirSync(env['TMPDIR']!)
  const bench: Bench = { dir, store, env, before: '' }
  const { code, text } = await start(bench, run('--out', join(store, 'before'))).ended
  if (code !== 0) throw new Error(`The bench could not be set up: ${code} ${text}`)
  writeFileSync(join(dir, 'two.ncu-rep'), ncuReport('launches-two-rungs'))
  mkdirSync(join(dir, 'handed-in'))
  const lab = join(root, 'cuda-kernels/labs/01-coalescing')
  for (const name of ['starter', 'solution'])
    cpSync(join(lab, `${name}.cu`), join(dir, 'handed-in', `${name}.cu`))
  bench.before = hashOf(join(store, 'before'), join(dir, 'handed-in'))
  return bench
}

export async function closeBench({ dir, remote }: Bench): Promise<void> {
  remote?.close()
  await rm(dir, { recursive: true, force: true })
}

const hidden = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('.')) : []

/** Returns the problems found in the store. */
async function storeFaults({ store, dir, before }: Bench): Promise<string[]> {
  const wrong: string[] = []
  if (hashOf(join(store, 'before'), join(dir, 'handed-in')) !== before)
    wrong.push('what was there before has changed')
  for (const name of readdirSync(store).filter((one) => !one.startsWith('.')))
    await readSession(join(store, name)).catch((error: unknown) => {
      wrong.push(`${name} is there and cannot be read: ${String(error)}`)
    })
  return wrong
}

/** Returns the rungs that have a time in the new sessions. */
async function timedRungs({ store, dir }: Bench, known: ReadonlySet<string>): Promise<string[]> {
  const folders = [store, join(dir, 'tmp'), join(dir, 'disk', 'sessions')].flatMap((place) =>
    existsSync(place)
      ? readdirSync(place)
          .filter((name) => !name.startsWith('.'))
          .map((name) => join(place, name))
      : [],
  )
  const fresh = folders.filter(
    (folder) => !known.has(folder) && existsSync(join(folder, 'session.json')),
  )
  const sessions = await Promise.all(fresh.map((folder) => readSession(folder)))
  return sessions.flatMap((session) =>
    session.rungs.flatMap(({ id, timing }) => (timing ? [id] : [])),
  )
}

/**
 * Injects the fault once. If no output marks the start of the stage, waits for the fraction `share`
 * of the stage's usual time. Returns the problems that the fault caused.
 */
async function strike(
  bench: Bench,
  stage: Stage,
  fault: Fault,
  delayMs: number,
): Promise<string[]> {
  const around = fault.around ? fault.around(bench) : {}
  if (around === null) return ['not tried: this user may not mount a disk, or btrfs is missing']
  const known = new Set(readdirSync(bench.store).map((name) => join(bench.store, name)))
  const wrong: string[] = []
  const lasts = fault.strike !== undefined && !fault.briefly && stage.lasting !== undefined
  const lasting = lasts ? stage.lasting : {}
  // Other commands must not use the faulty builds, so the cache is separate.
  const apart: Record<string, string> = lasts
    ? { KERNEL_LADDER_CACHE: join(bench.dir, 'cache-apart') }
    : {}
  try {
    const started = Array.from({ length: around.programs ?? 1 }, () =>
      start(bench, stage.words(bench), {
        ...around,
        env: { ...lasting, ...apart, ...around.env },
      }),
    )
    const [first] = started
    if (fault.strike) {
      if (stage.says) await first!.says(stage.says)
      await pause(delayMs)
      fault.strike(first!.child, bench)
    }
    const all = Promise.all(started.map(({ ended }) => ended))
    const ended = await Promise.race([all, pause(90_000).then(() => null)])
    if (ended === null) {
      wrong.push('it did not end within 90 s')
      for (const { child } of started) child.kill('SIGKILL')
    }
    for (const { text, code } of ended ?? []) {
      if (/^\s+at .*:\d+:\d+/m.test(text)) wrong.push('a stack trace')
      const internal = /^.*internal error.*$/im.exec(text)
      if (internal) wrong.push(internal[0])
      if (code !== null && ![0, 1, 2, 3].includes(code)) wrong.push(`exit code ${code}`)
    }
    // An orphaned process must end on its own, together with its children.
    if (!(await until(() => leftProcesses(bench.dir).length === 0, 40_000)))
      wrong.push(`processes are left: ${leftProcesses(bench.dir).join('; ').slice(0, 300)}`)
    if (fault.graceful && stage.saves) {
      const timed = await timedRungs(bench, known)
      const lost = stage.saves.filter((id) => !timed.includes(id))
      if (lost.length > 0) wrong.push(`finished and not saved: ${lost.join(', ')}`)
    }
    wrong.push(...(await storeFaults(bench)))
  } finally {
    around.after?.()
    await rm(join(bench.dir, 'disk'), { recursive: true, force: true })
    await rm(join(bench.dir, 'report.html'), { force: true })
  }
  return wrong
}

/** Checks that the next command works, and that it removes the leftovers of a killed command. */
async function recover(bench: Bench): Promise<string[]> {
  // Restore the fake GPU if a fault made it disappear.
  await rm(join(bench.dir, 'cache', 'gpu-gone'), { force: true })
  const { code, text } = await start(bench, run('--profile', 'none')).ended
  const wrong = code === 0 ? [] : [`the next run ended with ${code}: ${text.slice(-200)}`]
  for (const folder of [bench.store, join(bench.dir, 'tmp')]) {
    const left = hidden(folder)
    if (left.length > 0) wrong.push(`left in ${relative(bench.dir, folder)}: ${left.join(', ')}`)
  }
  return wrong
}

/** Returns the problems that one fault causes in one stage, or an empty list. */
export async function tryCell(bench: Bench, stage: Stage, fault: Fault): Promise<string[]> {
  // The program takes at least half a second to start.
  const moments = !fault.strike || stage.says ? [200] : [300, 700, 1100, 1600, 2300]
  const wrong: string[] = []
  if (stage.isRemote) {
    bench.remote = await openRemote()
    const { code, text } = await start(bench, bench.remote.add).ended
    if (code !== 0) return [`the other machine could not be added: ${text.slice(-200)}`]
  }
  for (const delay of moments) wrong.push(...(await strike(bench, stage, fault, delay)))
  wrong.push(...(await recover(bench)))
  // A remote process that lost its connection must end on its own.
  if (!(await until(() => (bench.remote?.left() ?? []).length === 0, 60_000)))
    wrong.push(`left on the other machine: ${bench.remote!.left().join('; ').slice(0, 300)}`)
  return [...new Set(wrong)]
}
