/**
 * Runs a Slurm job and parses the plain-text output of sbatch, squeue, sacct, and scancel.
 *
 * The login node reads the job's output from a folder that it shares with the compute node. While
 * the job's state stays the same, squeue is polled less and less often.
 */
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import type { SlurmOptions } from '../../domain/remote/machine-file'
import {
  endOf,
  finalStates,
  isEarly,
  parseQueueLine,
  stateOf,
  submittedId,
  type JobState,
} from '../../domain/remote/slurm-job'
import { message, type Statement } from '../../domain/messages/message'
import { answer, type RemoteFacts } from './remote-host'
import {
  follow,
  placeJob,
  type JobPlace,
  type StartedJob,
  type StartJob,
  type Watch,
} from './remote-jobs'
import { quoted, type Shell } from './ssh'

/** Longest interval between squeue polls, in seconds. */
const slowest = 30
/**
 * Time to wait for a job's last lines after it ends, in seconds. These lines arrive through a
 * shared file system.
 */
const settling = 15

/** Returns the site's sbatch options, one argument each. */
export function sbatchWords(options: SlurmOptions): string[] {
  const named = (['partition', 'account', 'qos', 'gres', 'constraint', 'time'] as const).flatMap(
    (name) => (options[name] === undefined ? [] : [`--${name}=${options[name]}`]),
  )
  return [...named, ...options.options]
}

/**
 * Returns this program's sbatch options. The options export none of the submitting shell's
 * variables, so that a job does not depend on that shell. The commands before the run set the
 * variables that the job needs. A requeued job appends to its earlier output.
 */
const ownWords = (name: string): string[] => [
  ...['--parsable', '--export=NONE', '--nodes=1', '--ntasks=1', '--requeue'],
  ...[`--job-name=${name}`, '--output=slurm.out', '--open-mode=append', '--input=/dev/null'],
]

const line = (words: readonly string[]): string => words.map(quoted).join(' ')

/** Converts sbatch's stderr to an error. The remedy depends on the kind of failure. */
function refused(shell: Shell, status: number, lines: readonly string[]): KernelLadderError {
  const errors =
    lines
      .filter((one) => /error|failure|not found/i.test(one))
      .map((one) => one.replace(/^sbatch: (error: )?/, ''))
      .at(-1) ??
    lines.at(-1) ??
    `sbatch ended with ${status}`
  if (status === 127)
    return missingError(
      message('slurm.noSlurm', { name: shell.name }),
      message('slurm.noSlurmDo', { name: shell.name }),
    )
  if (
    /contact slurm controller|Socket timed out|configuration source|Connection refused/i.test(
      errors,
    )
  )
    return missingError(
      message('slurm.unreachable', { name: shell.name, text: errors }),
      message('slurm.unreachableDo'),
    )
  return inputError(
    message('slurm.refused', { name: shell.name, text: errors }),
    message('slurm.refusedDo', { name: shell.name }),
  )
}

/**
 * Returns a script that runs sbatch with the given arguments in the current folder. The script's
 * output lines begin with `rc`, `out`, or `err`.
 */
const submitScript = (words: readonly string[]): string =>
  [
    `sbatch ${line(words)} > sbatch.out 2> sbatch.err < /dev/null; rc=$?`,
    'sed "s/^/out /" sbatch.out; sed "s/^/err /" sbatch.err; echo "rc $rc"',
  ].join('\n')

function submitted(lines: readonly string[]) {
  const of = (word: string): string[] =>
    lines.filter((one) => one.startsWith(`${word} `)).map((one) => one.slice(word.length + 1))
  return { status: Number(of('rc')[0] ?? NaN), out: of('out'), err: of('err') }
}

/**
 * Asks Slurm whether it accepts a job with the given options. Throws an error if Slurm rejects the
 * options.
 */
export async function tryOptions(
  shell: Shell,
  options: SlurmOptions,
  signal?: AbortSignal,
): Promise<void> {
  const lines = await answer(
    shell,
    'a question to Slurm',
    [
      't=$(mktemp -d) && cd "$t" || exit 1',
      submitScript(['--test-only', '--export=NONE', ...sbatchWords(options), '--wrap=true']),
      'cd / && rm -rf "$t"',
    ].join('\n'),
    undefined,
    signal,
  )
  const { status, err } = submitted(lines)
  if (status !== 0) throw refused(shell, status, err)
}

/**
 * Returns shell code that polls the job's line in the queue. The code sets `over` after two
 * consecutive polls in which the job has a final state or is missing. Reported lines begin with
 * `%`.
 */
function watchOf(name: string, id: string, cluster: string | null): Watch {
  const where = at(cluster)
  const queue = `squeue -h -r -t all -u "$(id -un)" -n ${quoted(name)} -o '%i|%T|%r|%N'${where} 2>/dev/null`
  return {
    pause: '1',
    first: 'woken=; next=0; every=1; old=x; same=0; over=',
    each: [
      // After a stop request, the user is waiting, so poll at the shortest interval.
      'if [ -f stop ] && [ -z "$woken" ]; then woken=1; next=0; every=1; fi',
      'if [ -f done ]; then over=1; fi',
      '  t=$(date +%s)',
      '  if [ -z "$over" ] && [ "$t" -ge "$next" ] && q=$(' + queue + '); then',
      `    s=$(printf '%s\\n' "$q" | grep '^${id}|' | head -n 1)`,
      `    if [ "$s" != "$old" ]; then old=$s; every=1; same=0; [ -z "$s" ] || printf '%% queue %s\\n' "$s"; fi`,
      `    case "$s" in ''|*'|'${finalStates.map((state) => `${state}'|'*`).join("|*'|'")}) same=$((same + 1));; *) same=0;; esac`,
      '    [ "$same" -lt 2 ] || over=1',
      '  fi',
      `  if [ "$t" -ge "$next" ]; then next=$((t + every)); every=$((every * 2)); [ "$every" -le ${slowest} ] || every=${slowest}; fi`,
      '  [ -n "$over" ] || a=1',
    ].join('\n'),
    last: [
      // Wait for the completion mark. The job's last lines arrive through the shared file system,
      // possibly after the job is known to have ended.
      `case "$old" in *'|COMPLETED|'*) k=0; while [ ! -f done ] && [ $k -lt ${settling} ]; do sleep 1; k=$((k + 1)); done;; esac`,
      'n=0; [ ! -f events ] || n=$(wc -c < events)',
      'if [ "$n" -gt "$o" ]; then tail -c +$((o + 1)) events; fi',
      `[ -f done ] || sacct -X -P -n -o JobID,State -S "$(cat submitted)" -j ${id}${where} 2>/dev/null | grep '^${id}|' | tail -n 1 | sed 's/^/% accounting /'`,
      // Use only the output after the job's last start. Earlier starts of a requeued job also wrote
      // to the file.
      `awk '/^begun$/ { s = "" } /[*][*][*] JOB ${id} ON / { s = $0 } END { if (s) print "% step " s }' slurm.out 2>/dev/null`,
    ].join('\n'),
  }
}

/** Receives the job's state in the queue. Called once per state change. */
export type OnState = (state: JobState, before: JobState | null, number: string) => void

const jobName = (id: string): string => `kernel-ladder-${id}`

interface Submitted {
  place: JobPlace
  /** The job's name, used to filter squeue's output. */
  name: string
  number: string
  cluster: string | null
}

/**
 * Returns the cluster option for Slurm's commands if the job is on a different cluster from the
 * login node.
 */
export const at = (cluster: string | null): string =>
  cluster === null ? '' : ` -M ${quoted(cluster)}`

/**
 * Writes a job's files and submits the job. `more` contains additional arguments for sbatch. Throws
 * an error with sbatch's message if sbatch rejects the job.
 */
export async function submit(
  shell: Shell,
  facts: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
  options: SlurmOptions,
  more: readonly string[] = [],
): Promise<Submitted> {
  const name = jobName(id)
  const { place, lines } = await placeJob(
    shell,
    facts,
    id,
    start,
    [
      'date +%FT%T > submitted',
      submitScript([...ownWords(name), ...more, ...sbatchWords(options), 'run.sh']),
    ].join('\n'),
  )
  const { status, out, err } = submitted(lines)
  const job = submittedId(out)
  if (status !== 0 || !job) {
    await answer(
      shell,
      'tidying up',
      `scancel -n ${quoted(name)} -u "$(id -un)" 2>/dev/null; rm -rf ${quoted(place.folder)}; true`,
    ).catch(() => undefined)
    if (status !== 0) throw refused(shell, status, err)
    throw new KernelLadderError(
      'failed',
      message('slurm.noNumber', { name: shell.name, text: out.join(' ') || '–' }),
    )
  }
  return { place, name, number: job.id, cluster: job.cluster }
}

export async function submitJob(
  shell: Shell,
  facts: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
  options: SlurmOptions,
  onState: OnState,
): Promise<StartedJob> {
  return slurmJob(shell, await submit(shell, facts, id, start, options), onState)
}

/**
 * Returns a handle for a job that was submitted earlier, based on the output of sbatch. Returns
 * null if the output has no job number.
 */
export function submittedJob(
  shell: Shell,
  place: JobPlace,
  submission: readonly string[],
  onState: OnState,
): StartedJob | null {
  const job = submittedId(submission)
  const name = jobName(place.folder.split('/').pop()!)
  return job && slurmJob(shell, { place, name, number: job.id, cluster: job.cluster }, onState)
}

function slurmJob(
  shell: Shell,
  { place, name, number, cluster }: Submitted,
  onState: OnState,
): StartedJob {
  const onCluster = at(cluster)
  let last: JobState | null = null
  const end = { queue: null, accounting: null, step: null } as {
    queue: string | null
    accounting: string | null
    step: string | null
  }
  const onWatched = (text: string): void => {
    const [, kind, rest] = /^(queue|accounting|step) (.*)$/.exec(text) ?? []
    if (rest === undefined) return
    if (kind === 'step') end.step = rest
    if (kind === 'accounting') end.accounting = rest.split('|')[1] ?? null
    const found = kind === 'queue' ? parseQueueLine(rest) : null
    if (!found) return
    end.queue = found.state
    const state = stateOf(found)
    if (JSON.stringify(state) !== JSON.stringify(last)) onState(state, last, number)
    last = state
  }
  const watch = watchOf(name, number, cluster)
  return {
    place,
    number,
    follow: (offset, follower, signal) =>
      follow(shell, place, offset, watch, { ...follower, onWatched }, signal),
    stop: (force) =>
      answer(
        shell,
        'stopping the job',
        [
          // The file `stop` stops a job that is about to start. Signals cannot reach a job that has
          // not started.
          `cd ${quoted(place.folder)} && touch stop`,
          force
            ? `scancel${onCluster} ${number}`
            : `case "$(squeue -h -j ${number} -o %T${onCluster} 2>/dev/null)" in *RUNNING*) scancel${onCluster} -b -s TERM ${number};; *) scancel${onCluster} ${number};; esac`,
          'true',
        ].join('\n'),
      ),
    ending() {
      const { state, statement } = endOf(end)
      return { early: isEarly(state), statement }
    },
  }
}

/** Returns a notice for a state change, or null if the user need not know about it. */
export function stateNotice(
  state: JobState,
  before: JobState | null,
  { name, number }: { name: string; number: string },
): { level: 'info' | 'warning'; message: Statement } | null {
  const job = { name, number }
  const wasStarted = before?.state === 'running' || before?.state === 'ending'
  if ((state.state === 'queued' || state.state === 'held') && wasStarted)
    return {
      level: 'warning',
      message: message(state.state === 'held' ? 'slurm.requeuedHeld' : 'slurm.requeued', {
        ...job,
        reason: state.reason,
      }),
    }
  switch (state.state) {
    case 'queued':
      return before?.state === 'queued' && before.reason === state.reason
        ? null
        : { level: 'info', message: message('slurm.queued', { ...job, reason: state.reason }) }
    case 'held':
      return { level: 'warning', message: message('slurm.held', { ...job, reason: state.reason }) }
    case 'running':
      return before?.state === 'running'
        ? null
        : { level: 'info', message: message('slurm.running', { ...job, node: state.node }) }
    case 'ending':
    case 'over':
      return null
  }
}
