/** What a sandbox prevents on this machine, and a sentence about it. */

/** Kinds of actions that a sandbox prevents. Each kind of action is tested. */
export const safeguards = ['network', 'processes', 'writing', 'reading', 'rights'] as const
type Safeguard = (typeof safeguards)[number]

export interface Isolation {
  /** Isolation mechanism, or `none` if the system offers no mechanism. */
  by: 'unshare' | 'bubblewrap' | 'none'
  held: Readonly<Record<Safeguard, boolean>>
  /**
   * Whether the operating system enforces the memory and disk limits. If not, the grader monitors
   * them.
   */
  kernel: { memory: boolean; disk: boolean }
}

export const isIsolated = ({ held }: Isolation): boolean => safeguards.every((name) => held[name])

const inReach: Record<Safeguard, string> = {
  network: 'the network',
  processes: 'other processes',
  writing: 'writing to other files',
  reading: 'your files and sockets, and other submissions',
  rights: 'capabilities and mounts',
}

/**
 * Returns a sentence to print with the grades. The sentence lists which actions the sandbox does
 * and does not prevent.
 */
export function isolationSentence({ by, held, kernel }: Isolation): string {
  const watched = [
    ...(kernel.memory ? [] : ['memory', 'number of processes']),
    ...(kernel.disk ? [] : ['total disk space']),
  ]
  const limits =
    watched.length === 0
      ? 'The kernel enforces the limits on memory, tasks and disk.'
      : kernel.memory || kernel.disk
        ? `The kernel enforces the limit on ${kernel.memory ? 'memory and tasks' : 'disk'}; ${watched.filter((what) => !what.startsWith('disk')).length > 0 ? `${watched.join(' and ')} are only monitored` : 'disk space is limited per file, not in total'}.`
        : 'Memory and processes are only monitored, and disk space is limited per file, not in total.'
  if (by === 'none')
    return `Neither unshare nor bubblewrap works here: submissions run with your permissions and can reach the network and your files. ${limits}`
  const open = safeguards.filter((name) => !held[name]).map((name) => inReach[name])
  return open.length === 0
    ? `Each submission runs in its own namespaces (${by}), without network or capabilities, sees only programs and its own folder, and can write only to its folder; all of this was tested. ${limits}`
    : `Each submission runs in its own namespaces (${by}); not isolated from: ${open.join(', ')}. ${limits}`
}
