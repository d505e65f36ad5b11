/**
 * Runs jobs on a remote machine through shell scripts. Starts a job in a separate process group and
 * reads its events from any byte offset. The module also stops jobs and finds jobs from earlier
 * runs.
 */
import type { Statement } from '../../domain/messages/message'
import { answer, type Around, type RemoteFacts } from './remote-host'
import { quoted, type Shell } from './ssh'

export interface JobPlace {
  /** Absolute remote path of the job's folder. */
  folder: string
}

export interface StartJob extends Around {
  node: string
  agent: string
  /** The job's JSON document. */
  job: string
}

/**
 * Returns a job's script. The script runs the user's commands before the run, the program, and the
 * user's commands after the run. A restarted job begins a new line before it appends output. Each
 * array task has separate files, whose names end with the task's number.
 */
const jobScript = ({ node, agent, before, after }: Omit<StartJob, 'job'>): string =>
  [
    '#!/bin/sh',
    't=${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}; child=; told=',
    'trap \'told=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null\' INT TERM HUP',
    'echo begun; rm -rf session "done$t" "failed$t"; [ ! -f "events$t" ] || echo >> "events$t"',
    ...before.map(
      (command) =>
        `{ ${command}\n} || { echo ${quoted(`The command before the run failed: ${command}`)} > "failed$t"; exit 1; }`,
    ),
    '[ ! -f stop ] || exit 1',
    `${quoted(node)} ${quoted(agent)} __agent job.json "events$t" </dev/null >"stdout$t" 2>>"stderr$t" &`,
    'child=$!; echo "$child" > "pid.part$t" && mv "pid.part$t" "pid$t"',
    // A signal interrupts `wait`, although the program still needs time to save its results.
    'wait "$child"; code=$?; while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done',
    ...after.map((command) => `{ ${command}\n}`),
    // If the stop request did not come from the user, leave no completion mark, so that the job can
    // be restarted.
    '[ -n "$told" ] && [ ! -f stop ] || touch "done$t"; exit "$code"',
    '',
  ].join('\n')

/**
 * Writes the job's files to a new folder and runs the script `then` in that folder. Returns the
 * output lines of `then`.
 */
export async function placeJob(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
  then: string,
): Promise<{ place: JobPlace; lines: string[] }> {
  const folder = `${root}/jobs/${id}`
  const run = Buffer.from(jobScript(start))
  const job = Buffer.from(start.job)
  const script = [
    `d=${quoted(folder)}; umask 077; mkdir -p "$(dirname "$d")" && mkdir "$d" && cd "$d" || exit 1`,
    `head -c ${job.length} > job.json && head -c ${run.length} > run.sh || exit 1`,
    then,
  ].join('\n')
  const lines = await answer(shell, 'the job', script, Buffer.concat([job, run]))
  return { place: { folder }, lines }
}

/** Shell code that checks whether a job is running. `sh` executes the code in the job's folder. */
export interface Watch {
  /** Shell code that runs once, before the loop that reads the job's lines. */
  first?: string
  /**
   * Shell code that runs before each read of the job's lines. The code sets `a` while the job may
   * still write.
   */
  each: string
  /** Shell code that runs once, after the last read. */
  last?: string
  /** Pause between two reads, in seconds. */
  pause: string
}

interface Followed {
  /**
   * Reason why this program stopped following the job. `ended` means that the job has ended and all
   * its lines were received.
   */
  outcome: 'ended' | 'lost' | 'cancelled'
  /** Byte offset for resuming after a lost connection. */
  offset: number
  /**
   * Last lines of the ended job's stderr, preceded by the reason if the job's program could not
   * start.
   */
  lines: string[]
}

interface Follower {
  onLine: (line: unknown) => void
  /** Called after the job's folder was found, before the first line arrives. */
  onConnected?: () => void
}

/**
 * Forwards a job's event lines, starting at a byte offset. Stops when the job ends or the
 * connection is lost.
 */
export async function follow(
  shell: Shell,
  { folder }: JobPlace,
  offset: number,
  watch: Watch,
  { onLine, onConnected, onWatched }: Follower & { onWatched?: (line: string) => void },
  signal: AbortSignal,
): Promise<Followed> {
  let at = offset
  /** Total length in bytes of the incomplete lines that lost connections and killed jobs leave. */
  let torn = 0
  const lines: string[] = []
  const result = await shell.run({
    script: [
      `cd ${quoted(folder)} || exit 1; o=${offset}; echo "% connected"`,
      watch.first ?? '',
      'while :; do',
      `  a=; ${watch.each}`,
      '  n=0; [ ! -f events ] || n=$(wc -c < events)',
      '  if [ "$n" -gt "$o" ]; then tail -c +$((o + 1)) events | head -c $((n - o)); o=$n; fi',
      '  [ -n "$a" ] || break',
      `  sleep ${watch.pause} 2>/dev/null || sleep 1`,
      'done',
      watch.last ?? '',
      '[ -f failed ] && sed "s/^/# /" failed; tail -n 5 stderr 2>/dev/null | sed "s/^/# /"; true',
    ].join('\n'),
    onLine(line) {
      if (line.startsWith('# ')) {
        lines.push(line.slice(2))
        return
      }
      if (line === '% connected') {
        onConnected?.()
        return
      }
      if (line.startsWith('% ')) {
        onWatched?.(line.slice(2))
        return
      }
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        torn += Buffer.byteLength(line) + 1
        return
      }
      // Include the preceding incomplete lines, because the file contains them.
      at += torn + Buffer.byteLength(line) + 1
      torn = 0
      onLine(value)
    },
    signal,
  })
  const outcome =
    result.outcome === 'done' ? (result.status === 0 ? 'ended' : 'lost') : result.outcome
  return { outcome, offset: at, lines }
}

/** A job that was started in a detached process or submitted to a queue. */
export interface StartedJob {
  place: JobPlace
  /** Job number in the scheduler's queue, or null if there is no scheduler. */
  number: string | null
  follow(offset: number, follower: Follower, signal: AbortSignal): Promise<Followed>
  /**
   * Asks the program to save its results and stop. With `force`, kills all processes that the
   * program started.
   */
  stop(force: boolean): Promise<unknown>
  /**
   * Returns the scheduler's explanation of why the job ended, or null if the scheduler gives no
   * explanation.
   */
  ending(): { early: boolean; statement: Statement } | null
}

/**
 * Shell code that tests whether the job's process group exists. After a reboot, the test fails even
 * if a new process group has the same id. The code uses `kill -s`, because dash rejects a negative
 * number after `kill -0 --`.
 */
const groupLives =
  '[ "$(cat boot 2>/dev/null)" = "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" ] && kill -s 0 -- "-$(cat group)" 2>/dev/null && a=1'

/**
 * Returns a handle for a job in a separate process group. Either this run of the program or an
 * earlier one started the job.
 */
export const detachedJob = (shell: Shell, place: JobPlace): StartedJob => ({
  place,
  number: null,
  follow: (offset, follower, signal) =>
    follow(shell, place, offset, { each: groupLives, pause: '0.2' }, follower, signal),
  stop: (force) =>
    answer(
      shell,
      'stopping the job',
      force
        ? `cd ${quoted(place.folder)} && kill -s KILL -- "-$(cat group)" 2>/dev/null; true`
        : `cd ${quoted(place.folder)} && { [ -f pid ] || sleep 1; kill -TERM "$(cat pid)" 2>/dev/null; true; }`,
    ),
  ending: () => null,
})

/** Starts a job that continues after the connection ends. */
export async function startDetached(
  shell: Shell,
  facts: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
): Promise<StartedJob> {
  const then = [
    'cat /proc/sys/kernel/random/boot_id > boot 2>/dev/null',
    'setsid sh run.sh </dev/null >/dev/null 2>>stderr & echo "$!" > group',
  ].join('\n')
  const { place } = await placeJob(shell, facts, id, start, then)
  return detachedJob(shell, place)
}

/** A job whose folder still exists on the machine. */
export interface FoundJob {
  id: string
  /**
   * The job's state. An `ended` job has all results. A `gone` job ended before it had all results.
   */
  state: 'running' | 'ended' | 'gone'
  /** sbatch's output, or null for a job that does not use Slurm. */
  submission: string[] | null
  /** The job's JSON document. */
  job: string
}

/** Returns the jobs whose results were not copied back, oldest first, except job arrays. */
export async function findJobs(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  signal?: AbortSignal,
): Promise<FoundJob[]> {
  const script = [
    `cd ${quoted(`${root}/jobs`)} 2>/dev/null || exit 0`,
    'for d in *; do',
    '  [ -f "$d/job.json" ] && [ ! -f "$d/queue.old" ] || continue',
    '  cd "$d"; s=gone; a=',
    '  if [ -f sbatch.out ]; then',
    `    n=$(grep -Eo '^[0-9]+(;|$)' sbatch.out | tail -n 1 | tr -d ';'); [ -z "$(squeue -h -j "$n" -o %T 2>/dev/null)" ] || s=running`,
    `  else ${groupLives}; [ -z "$a" ] || s=running; fi`,
    `  grep -q '^{"type":"end"' events 2>/dev/null && s=ended`,
    '  printf "job %s %s\n" "$d" "$s"; [ ! -f sbatch.out ] || sed "s/^/out /" sbatch.out; printf "is "; cat job.json; echo; cd ..',
    'done',
  ].join('\n')
  const found: FoundJob[] = []
  for (const line of await answer(shell, 'the listing of its runs', script, undefined, signal)) {
    const [, id, state] = /^job (\S+) (running|ended|gone)$/.exec(line) ?? []
    if (id !== undefined)
      found.push({ id, state: state as FoundJob['state'], submission: null, job: '' })
    const last = found.at(-1)
    if (last && line.startsWith('out '))
      last.submission = [...(last.submission ?? []), line.slice(4)]
    if (last && line.startsWith('is ')) last.job = line.slice(3)
  }
  return found
}

export const removeJob = (shell: Shell, { folder }: JobPlace): Promise<unknown> =>
  answer(shell, 'tidying up', `rm -rf ${quoted(folder)}`)
