/** The process tree below a process: lists it, signals it, and kills it. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the result of `read`, or `otherwise` if the system refuses: processes come and go, and some systems lack
 * /proc.
 */
function quietly<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Returns all processes visible from here; none without /proc. */
export const processIds = (): string[] =>
  quietly(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name))

/**
 * Returns the descendants of a process, found through /proc. A child with its own session is not in its parent's
 * process group and would survive a signal to the group. Reads are synchronous: they take microseconds, far less than
 * the thread pool, and a forking process must not get ahead.
 */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of processIds()) {
    const stat = quietly(() => readFileSync(`/proc/${name}/stat`, 'utf8'), '')
    // The command name in parentheses may contain anything, so count fields after the last parenthesis.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (!parent) continue
    const known = children.get(parent)
    if (known) known.push(Number(name))
    else children.set(parent, [Number(name)])
  }
  const found: number[] = []
  const visit = (parent: number): void => {
    for (const child of children.get(parent) ?? []) {
      found.push(child)
      visit(child)
    }
  }
  visit(pid)
  return found
}

/** Returns the kernel's name of a process, at most 15 characters. */
export const nameOf = (pid: number): string =>
  quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), '')

export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is already gone.
  }
}

/**
 * Kills a process, its group and its descendants. SIGKILL also destroys its GPU context, so nothing gentler is
 * needed.
 */
export function killTree(pid: number): void {
  const tree = descendants(pid)
  signalQuietly(-pid, 'SIGKILL')
  for (const member of [pid, ...tree]) signalQuietly(member, 'SIGKILL')
}
