/**
 * Limits all processes of a submission together through control groups.
 *
 * Either systemd or this program creates the control group. This program can create a control group
 * (version 2 or 1) only if the user has permission. Each way to create a control group is tested
 * before use.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode, pathExists } from '../disk/disk'
import { runProcess } from '../tools/process'

interface GroupLimits {
  memoryBytes: number
  /** The maximum number of processes and threads. */
  tasks: number
}

interface Group {
  /** Command prefix that runs the rest of the command line in the group. */
  prefix: readonly string[]
  /**
   * Returns the limit that was exceeded. Returns null if no limit was exceeded or the Linux kernel
   * does not report it.
   */
  met(): Promise<'memory' | 'tasks' | null>
  /** Kills all remaining processes in the group and removes the group. */
  end(): Promise<void>
}

export type MakeGroup = () => Promise<Group>

const root = '/sys/fs/cgroup'
const newName = (): string => `kernel-ladder-${randomBytes(6).toString('hex')}`
const read = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8').catch(() => '')

/**
 * Reads the paths of this process's control groups, keyed by controller, from /proc/self/cgroup.
 * For version 2, the controller name is empty.
 */
async function ownPaths(): Promise<Map<string, string>> {
  const lines = (await read('/proc/self/cgroup')).split('\n')
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
      return (names ?? '').split(',').flatMap((name) => (path === undefined ? [] : [[name, path]]))
    }),
  )
}

/** Returns a command prefix that joins all groups and then runs the rest of the command line. */
const enter = (folders: readonly string[]): string[] => [
  ...[
    'sh',
    '-c',
    'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"',
  ],
  ...['sh', ...folders, '--'],
]

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

/** Settings to write to new control groups. Each new group has an existing parent group. */
type Plan = readonly { parent: string; settings: Readonly<Record<string, string>> }[]

const counted = (text: string, word: string): boolean =>
  new RegExp(`^${word} [1-9]`, 'm').test(text)

async function makeGroup(plan: Plan): Promise<Group> {
  const name = newName()
  const folders = plan.map(({ parent }) => join(parent, name))
  const end = async (): Promise<void> => {
    for (const folder of folders) {
      await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => undefined)
      // Killed processes remain in the group until they are reaped.
      for (let tries = 0; tries < 100; tries += 1) {
        for (const pid of (await read(folder, 'cgroup.procs')).split('\n').filter(Boolean))
          try {
            process.kill(Number(pid), 'SIGKILL')
          } catch {
            // Ignore the error, because the process has already exited.
          }
        const gone = await rmdir(folder).then(
          () => true,
          (error: unknown) => errorCode(error) === 'ENOENT',
        )
        if (gone) break
        await sleep(20)
      }
    }
  }
  try {
    for (const [at, { settings }] of plan.entries()) {
      await mkdir(folders[at]!)
      for (const [file, value] of Object.entries(settings)) {
        const path = join(folders[at]!, file)
        // Some systems have no setting for swap.
        if (file.includes('sw') && !(await pathExists(path))) continue
        await writeFile(path, value)
      }
    }
  } catch (error) {
    await end()
    throw error
  }
  return {
    prefix: enter(folders),
    async met() {
      for (const folder of folders) {
        if (counted(await read(folder, 'memory.events'), 'oom_kill')) return 'memory'
        if (counted(await read(folder, 'memory.oom_control'), 'oom_kill')) return 'memory'
        if (counted(await read(folder, 'pids.events'), 'max')) return 'tasks'
      }
      return null
    },
    end,
  }
}

/**
 * Plans a version 2 group. The new group's parent is the nearest ancestor group that makes the
 * needed controllers available. The limits of the groups in between still apply.
 */
async function version2({ memoryBytes, tasks }: GroupLimits): Promise<Plan | null> {
  const own = (await ownPaths()).get('')
  if (own === undefined || !(await pathExists(join(root, 'cgroup.controllers')))) return null
  let memory = memoryBytes
  for (let folder = join(root, own); folder.startsWith(root); folder = dirname(folder)) {
    const passed = (await read(folder, 'cgroup.subtree_control')).split(/\s+/)
    if (passed.includes('memory') && passed.includes('pids'))
      return [
        {
          parent: folder,
          settings: {
            'memory.max': String(memory),
            'memory.swap.max': '0',
            'pids.max': String(tasks),
          },
        },
      ]
    const limit = Number((await read(folder, 'memory.max')).trim())
    if (Number.isFinite(limit) && limit > 0) memory = Math.min(memory, limit)
  }
  return null
}

/** Plans version 1 groups below this process's own groups. */
async function version1({ memoryBytes, tasks }: GroupLimits): Promise<Plan | null> {
  const own = await ownPaths()
  const memory = own.get('memory')
  const pids = own.get('pids')
  if (memory === undefined || pids === undefined) return null
  return [
    {
      parent: join(root, 'memory', memory),
      settings: {
        'memory.limit_in_bytes': String(memoryBytes),
        'memory.memsw.limit_in_bytes': String(memoryBytes),
      },
    },
    { parent: join(root, 'pids', pids), settings: { 'pids.max': String(tasks) } },
  ]
}

/** Returns a scope in the user's systemd instance, or in the system's instance for root. */
function systemd({ memoryBytes, tasks }: GroupLimits): Group {
  const unit = newName()
  const user = process.getuid?.() === 0 ? [] : ['--user']
  const reach = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS']
  return {
    prefix: [
      ...[
        'env',
        ...reach.flatMap((name) => (process.env[name] ? [`${name}=${process.env[name]}`] : [])),
      ],
      ...['systemd-run', ...user, '--scope', '--quiet', '--collect', `--unit=${unit}`],
      ...['-p', `MemoryMax=${memoryBytes}`, '-p', 'MemorySwapMax=0', '-p', `TasksMax=${tasks}`],
      // A submission must not inherit the variables that give access to systemd.
      ...['--', 'env', ...reach.flatMap((name) => ['-u', name])],
    ],
    // The scope and its counters disappear when the last process exits, so the exceeded limit is
    // unknown.
    met: () => Promise.resolve(null),
    end: async () => {
      await runProcess({
        file: 'systemctl',
        args: [...user, 'kill', '--signal=KILL', `${unit}.scope`],
        timeoutMs: 10_000,
      })
    },
  }
}

/** Whether a process in the group is subject to the intended limits. */
async function holds(make: MakeGroup, { memoryBytes, tasks }: GroupLimits): Promise<boolean> {
  const group = await make().catch(() => null)
  if (!group) return false
  try {
    const script = `for at in ${root}$(sed -n 's/^0:://p' /proc/self/cgroup) ${root}/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup) ${root}/pids$(sed -n 's/^[0-9]*:pids://p' /proc/self/cgroup); do cat "$at/memory.max" "$at/memory.limit_in_bytes" "$at/pids.max"; done 2>/dev/null`
    const [file, ...args] = [...group.prefix, 'sh', '-c', script]
    const { outcome, stdout } = await runProcess({ file: file!, args, timeoutMs: 10_000 })
    const limits = stdout.split('\n').filter(Boolean).map(Number)
    return (
      outcome === 'exited' &&
      limits.includes(tasks) &&
      // The Linux kernel rounds limits to pages, and an outer group can have lower limits.
      limits.some((value) => value !== tasks && value > 0 && value <= memoryBytes)
    )
  } finally {
    await group.end()
  }
}

/**
 * Returns a function that creates a group with the given limits, or null if this user cannot create
 * groups.
 */
export async function findGroups(limits: GroupLimits): Promise<MakeGroup | null> {
  for (const make of [version2, version1]) {
    const plan = await make(limits)
    if (plan && (await holds(() => makeGroup(plan), limits))) return () => makeGroup(plan)
  }
  const scope: MakeGroup = () => Promise.resolve(systemd(limits))
  return (await holds(scope, limits)) ? scope : null
}
