/**
 * Runs a Slurm job array: one program on many GPUs, with the task's number in its arguments.
 *
 * A task is finished only if it wrote a completion line. For waiting tasks, the Slurm queue states
 * the reason.
 */
import { parseQueueLine, stateOf, type QueueLine } from '../../domain/remote/slurm-job'
import type { SlurmOptions } from '../../domain/remote/machine-file'
import { answer, type RemoteFacts } from './remote-host'
import { follow, type JobPlace, type StartJob } from './remote-jobs'
import { at, submit } from './slurm'
import { quoted, type Shell } from './ssh'

export interface ArrayProgress {
  number: string
  tasks: number
  done: number
  running: number
  /** Number of waiting or held tasks, and the reasons why they wait. */
  waiting: number
  reasons: string[]
  nodes: string[]
}

export interface EndedTask {
  /** Task number, counted from 1. */
  task: number
  /** Last line that the task wrote, or null if it wrote no lines. */
  last: unknown
  /** The task's last states in the queue and in accounting. Null if unknown. */
  queue: string | null
  accounting: string | null
}

export interface StartedArray {
  place: JobPlace
  number: string
  /**
   * Resolves when no task is running or waiting. Resolves to null if the connection was lost. Never
   * throws an error.
   */
  follow(
    onProgress: (progress: ArrayProgress) => void,
    signal: AbortSignal,
  ): Promise<EndedTask[] | null>
  stop(force: boolean): Promise<unknown>
}

/** Submits tasks 1 to `tasks`. */
export async function submitArray(
  shell: Shell,
  facts: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
  options: SlurmOptions,
  tasks: number,
): Promise<StartedArray> {
  const words = [`--array=1-${tasks}`]
  const { place, name, number, cluster } = await submit(shell, facts, id, start, options, words)
  const lines = new Map<number, QueueLine>()
  return {
    place,
    number,
    async follow(onProgress, signal) {
      const ended: EndedTask[] = []
      const accounting = new Map<number, string>()
      const { outcome } = await follow(
        shell,
        place,
        0,
        watchOf(name, number, cluster, tasks),
        {
          onLine: () => undefined,
          onWatched(text) {
            const [, kind, rest = ''] = /^(queue|done|accounting|end)(?: (.*))?$/.exec(text) ?? []
            const line = kind === 'queue' ? parseQueueLine(rest) : null
            if (line) lines.set(Number(line.id.split('_')[1]), line)
            if (kind === 'accounting') {
              const [job = '', state = ''] = rest.split('|')
              accounting.set(Number(job.split('_')[1]), state)
            }
            // Each poll ends with the `done` line.
            if (kind === 'done') {
              const done = new Set(rest.split(' ').filter(Boolean).map(Number))
              onProgress(progressOf(number, tasks, done, lines))
            }
            const [, task, last = ''] = (kind === 'end' && /^(\d+) ?(.*)$/.exec(rest)) || []
            if (task !== undefined)
              ended.push({
                task: Number(task),
                last: parsed(last),
                queue: lines.get(Number(task))?.state ?? null,
                accounting: accounting.get(Number(task)) ?? null,
              })
          },
        },
        signal,
      ).catch(() => ({ outcome: 'lost' as const }))
      return outcome === 'ended' ? ended : null
    },
    stop: (force) =>
      answer(
        shell,
        'stopping the jobs',
        [
          `cd ${quoted(place.folder)} && touch stop`,
          // Cancel waiting tasks before they start. Running tasks can save their results before
          // they stop.
          `scancel${at(cluster)} -t PENDING ${number}`,
          `scancel${at(cluster)} ${force ? '' : '-b -s TERM '}${number}`,
          'true',
        ].join('\n'),
      ),
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function progressOf(
  number: string,
  tasks: number,
  done: ReadonlySet<number>,
  lines: ReadonlyMap<number, QueueLine>,
): ArrayProgress {
  const states = [...lines].flatMap(([task, line]) => (done.has(task) ? [] : [stateOf(line)]))
  const waiting = states.flatMap((one) =>
    one.state === 'queued' || one.state === 'held' ? [one] : [],
  )
  const running = states.flatMap((one) => (one.state === 'running' ? [one] : []))
  return {
    ...{ number, tasks, done: done.size, running: running.length, waiting: waiting.length },
    reasons: [...new Set(waiting.map(({ reason }) => reason))],
    nodes: [...new Set(running.map(({ node }) => node))],
  }
}

/**
 * Returns shell code that prints the queue's changed lines. The code exits once every task has left
 * its completion mark. The code also exits after two consecutive polls in which the queue contains
 * no task.
 */
function watchOf(name: string, number: string, cluster: string | null, tasks: number) {
  const queue = `squeue -h -r -t all -u "$(id -un)" -n ${quoted(name)} -o '%i|%T|%r|%N'${at(cluster)} 2>/dev/null`
  return {
    pause: '1',
    first: 'woken=; next=0; every=1; gone=0; over=; : > queue.old',
    each: [
      // After a stop request, the user is waiting, so poll at the shortest interval.
      'if [ -f stop ] && [ -z "$woken" ]; then woken=1; next=0; every=1; fi',
      't=$(date +%s)',
      '  m=$(ls | sed -n "s/^done[.]//p"); n=$(printf "%s" "$m" | grep -c .)',
      `  [ "$n" -lt ${tasks} ] || over=1`,
      `  if [ -z "$over" ] && [ "$t" -ge "$next" ] && ${queue} > queue.all; then`,
      `    grep '^${number}_[0-9]*|' queue.all > queue.new`,
      `    if grep -vxFf queue.old queue.new > queue.diff; then every=1; sed 's/^/% queue /' queue.diff; fi`,
      '    mv queue.new queue.old; echo "% done" $m',
      '    if grep -qE "[|](PENDING|RUNNING|COMPLETING|CONFIGURING|SUSPENDED|REQUEUED|REQUEUE_HOLD|SPECIAL_EXIT|STAGE_OUT|SIGNALING|STOPPED)[|]" queue.old; then gone=0; else gone=$((gone + 1)); fi',
      '    [ "$gone" -lt 2 ] || over=1',
      '    next=$((t + every)); every=$((every * 2)); [ "$every" -le 30 ] || every=30',
      '  fi',
      '  [ -n "$over" ] || a=1',
    ].join('\n'),
    last: [
      'm=$(ls | sed -n "s/^done[.]//p"); n=$(printf "%s" "$m" | grep -c .); echo "% done" $m',
      `[ "$n" -ge ${tasks} ] || sacct -X -P -n -o JobID,State -S "$(cat submitted)" -j ${number}${at(cluster)} 2>/dev/null | grep '^${number}_[0-9]*|' | sed 's/^/% accounting /'`,
      `i=1; while [ $i -le ${tasks} ]; do printf '%% end %s %s\n' $i "$(grep '^{"type":"end"' events.$i 2>/dev/null | tail -n 1)"; i=$((i + 1)); done`,
    ].join('\n'),
  }
}
