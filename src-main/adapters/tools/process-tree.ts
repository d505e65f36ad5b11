/** Lists, signals, and kills a process tree. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the result of `read`, or `otherwise` if the system call fails. A process can exit at any
 * time, and some systems have no /proc.
 */
function quietly<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Returns the ids of all visible processes, or an empty list if there is no /proc. */
export const processIds = (): string[] =>
  quietly(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name))

/**
 * Returns a process's descendants, found through /proc. A child in a separate session leaves its
 * parent's process group and would survive a signal to the group.
 *
 * Synchronous reads take microseconds, far less time than reads in the thread pool. The search can
 * therefore keep up with a process that forks endlessly.
 */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of processIds()) {
    const stat = quietly(() => readFileSync(`/proc/${name}/stat`, 'utf8'), '')
    // The command name in parentheses can contain any character, so count fields after the last
    // parenthesis.
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

/** Returns the process name from /proc, at most 15 characters. */
export const nameOf = (pid: number): string =>
  quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), '')

export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ignore the error, because the process has already exited.
  }
}

/**
 * Kills a process, its group, and its descendants. SIGKILL also destroys the GPU context, so no
 * other signal is needed.
 */
export function killTree(pid: number): void {
  const tree = descendants(pid)
  signalQuietly(-pid, 'SIGKILL')
  for (const member of [pid, ...tree]) signalQuietly(member, 'SIGKILL')
}
