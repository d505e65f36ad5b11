/**
 * Runs one of this program's jobs on another machine.
 *
 * The job runs in a separate process group and writes its output lines to a file. After a lost
 * connection, reading resumes at the last position. Stopping the job stops the whole process group.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { agentProgram, nodeFor } from '../../adapters/remote/agent-files'
import { answer, lookAt, sendFile, type RemoteFacts } from '../../adapters/remote/remote-host'
import {
  detachedJob,
  findJobs,
  removeJob,
  startDetached,
  type FoundJob,
  type JobPlace,
  type StartedJob,
} from '../../adapters/remote/remote-jobs'
import { readMachines } from '../../adapters/remote/machines-store'
import { stateNotice, submitJob, submittedJob, type OnState } from '../../adapters/remote/slurm'
import { localShell, quoted, sshShell, type Shell } from '../../adapters/remote/ssh'
import type { Folders } from '../../adapters/machine/machine'
import { inputError, KernelLadderError } from '../../domain/errors'
import type { MachineEntry } from '../../domain/remote/machine-file'
import type { SessionHost } from '../../domain/session/session'
import { message, together, type Statement } from '../../domain/messages/message'
import { JobLine, type Job, type JobEnd } from '../../domain/remote/job-protocol'

export interface NamedMachine {
  name: string
  entry: MachineEntry
  shell: Shell
}

/** Returns ssh options to add to the user's configuration. Only tests set these options. */
export const sshOptions = (): string[] =>
  (process.env.KERNEL_LADDER_SSH_OPTIONS ?? '').split('\n').filter(Boolean)

export async function openMachine(
  folders: Pick<Folders, 'config'>,
  name: string,
): Promise<NamedMachine> {
  const machines = await readMachines(folders.config)
  const entry = Object.hasOwn(machines, name) ? machines[name] : undefined
  if (!entry) {
    const names = Object.keys(machines)
    throw inputError(
      message('machines.none', { name }),
      names.length > 0
        ? message('machines.known', { names: names.join(', ') })
        : message('machines.add', { name }),
    )
  }
  return { name, entry, shell: shellOf(name, entry) }
}

/**
 * Returns a machine's shell. If the entry has no host, the shell is local, because this machine is
 * a Slurm login node.
 */
export const shellOf = (name: string, { ssh }: Pick<MachineEntry, 'ssh'>): Shell =>
  ssh === undefined ? localShell(name) : sshShell(name, ssh, sshOptions())

export interface RemoteOptions {
  signal: AbortSignal
  onLine: (line: Exclude<JobLine, JobEnd>) => void
  /** Called with a warning, or with an informational message if the level is `info`. */
  onNotice: (notice: Statement, level?: 'info') => void
  /** Called when the connection is lost or restored. */
  onLink?: (up: boolean) => void
}

export interface EndedJob {
  end: JobEnd
  place: JobPlace
  /** Host on which the job ran. */
  host: SessionHost | null
}

/** Pauses before reconnecting, in milliseconds. The last pause is used for all later attempts. */
const retriesMs = [500, 1000, 2000, 5000, 10_000, 30_000]
/** Time in milliseconds in which a stopped job can save its results before it is killed. */
const graceMs = 60_000
const clockTolerance = 120

/** Probes the machine. Copies the program and Node.js to the machine unless it has them. */
export async function prepare(
  { shell, entry }: NamedMachine,
  { signal, onNotice }: Pick<RemoteOptions, 'signal' | 'onNotice'>,
): Promise<{ facts: RemoteFacts; node: string; agent: string }> {
  const facts = await lookAt(shell, entry, signal)
  if (Math.abs(facts.clockAhead) > clockTolerance)
    onNotice(message('machines.clock', { name: shell.name, seconds: facts.clockAhead }))
  const program = await agentProgram()
  const agent = await sendFile(
    shell,
    facts,
    `agents/${program.hash}/kernel-ladder.mjs`,
    program.bytes,
    signal,
  )
  if (facts.node !== null) return { facts, node: facts.node, agent }
  const node = await nodeFor(shell.name, facts.arch)
  onNotice(message('machines.sendsNode', { name: shell.name }))
  return {
    facts,
    agent,
    node: await sendFile(shell, facts, `agents/node-${node.hash}/node`, node.bytes, signal),
  }
}

const onStateOf =
  (name: string, onNotice: RemoteOptions['onNotice']): OnState =>
  (state, before, number) => {
    const notice = stateNotice(state, before, { name, number })
    if (notice) onNotice(notice.message, notice.level === 'info' ? 'info' : undefined)
  }

/**
 * Runs a job to completion. Throws an error if the job cannot start or ends before it writes a
 * completion line.
 */
export async function runJob(
  machine: NamedMachine,
  { facts, node, agent }: Awaited<ReturnType<typeof prepare>>,
  makeJob: (folder: string) => Job,
  options: RemoteOptions,
): Promise<EndedJob> {
  const { shell, entry, name } = machine
  const id = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}-${randomBytes(4).toString('hex')}`
  const start = {
    ...{ node, agent, before: entry.before, after: entry.after },
    job: JSON.stringify(makeJob(`${facts.root}/jobs/${id}`)),
  }
  const job = entry.slurm
    ? await submitJob(shell, facts, id, start, entry.slurm, onStateOf(name, options.onNotice))
    : await startDetached(shell, facts, id, start)
  return followJob(machine, job, options)
}

/**
 * Returns the machine's runs whose results were not copied back, for example because the laptop was
 * turned off.
 */
export async function findRuns(
  { shell, entry }: NamedMachine,
  signal: AbortSignal,
): Promise<{ facts: RemoteFacts; jobs: FoundJob[] }> {
  const facts = await lookAt(shell, entry, signal)
  return { facts, jobs: await findJobs(shell, facts, signal) }
}

/** Follows a job that an earlier call started. Reads the job's output from the first line. */
export function resumeJob(
  machine: NamedMachine,
  { root }: Pick<RemoteFacts, 'root'>,
  { id, submission }: FoundJob,
  options: RemoteOptions,
): Promise<EndedJob> {
  const { shell, name } = machine
  const place = { folder: `${root}/jobs/${id}` }
  const job =
    submission && submittedJob(shell, place, submission, onStateOf(name, options.onNotice))
  return followJob(machine, job ?? detachedJob(shell, place), options)
}

async function followJob(
  { name }: NamedMachine,
  job: StartedJob,
  options: RemoteOptions,
): Promise<EndedJob> {
  const { signal, onNotice } = options
  const { place, number } = job
  let host: SessionHost | null = null
  let end: JobEnd | null = null
  let failures = 0
  const onConnected = (): void => {
    if (failures > 0) {
      options.onLink?.(true)
      onNotice(message('machines.again', { name }))
    }
    failures = 0
  }
  const onLine = (value: unknown): void => {
    const line = JobLine.safeParse(value).data
    if (line?.type === 'end') end = line
    else if (line) options.onLine(line)
    // A restarted job has no result yet, even if it saved results when it was stopped.
    if (line?.type === 'begun') {
      end = null
      host = { name: line.host, job: number }
    }
  }
  const over = new AbortController()
  const stopping = stopOnAbort(job, signal, over)
  let offset = 0
  try {
    for (;;) {
      const followed = await job
        .follow(offset, { onLine, onConnected }, over.signal)
        .catch((error: unknown) => {
          if (error instanceof KernelLadderError)
            return { outcome: 'lost' as const, offset, said: [] }
          throw error
        })
      offset = followed.offset
      if (end !== null) {
        const ending = job.ending()
        if (ending?.early && !signal.aborted)
          onNotice(together(message('slurm.early', { name, number: number! }), ending.statement))
        return { end, place, host }
      }
      if (followed.outcome === 'ended')
        throw new KernelLadderError(
          signal.aborted ? 'cancelled' : 'failed',
          whyEnded(name, job, followed.lines),
          message('machines.seeFolder', { folder: place.folder }),
        )
      if (followed.outcome === 'cancelled')
        throw new KernelLadderError('cancelled', message('machines.stillThere', { name }))
      if (failures === 0) {
        options.onLink?.(false)
        onNotice(message('machines.lost', { name }))
      }
      await delay(retriesMs[Math.min(failures, retriesMs.length - 1)], undefined, {
        signal: over.signal,
      }).catch(() => undefined)
      failures += 1
    }
  } finally {
    stopping.close()
  }
}

/**
 * Returns the reason that a job has no result. For a Slurm job, the result includes the scheduler's
 * reason if there is one.
 */
function whyEnded(name: string, job: StartedJob, lines: readonly string[]): Statement {
  const why = job.ending()?.statement ?? null
  const ended =
    why !== null && lines.length === 0
      ? null
      : message('machines.ended', { name, text: lines.join(' ') || '–' })
  return why === null
    ? ended!
    : together(message('slurm.ended', { name, number: job.number! }), why, ended)
}

/**
 * On abort, asks the job to save its results and exit. Kills the job if it does not exit in time.
 * Gives up if the machine is unreachable.
 */
function stopOnAbort(job: StartedJob, signal: AbortSignal, over: AbortController) {
  let timers: NodeJS.Timeout[] = []
  const stop = (force: boolean): void => {
    void job.stop(force).catch(() => undefined)
  }
  const onAbort = (): void => {
    stop(false)
    timers = [
      setTimeout(() => {
        stop(true)
      }, graceMs),
      setTimeout(() => {
        over.abort()
      }, graceMs + 15_000),
    ]
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return {
    close(): void {
      signal.removeEventListener('abort', onAbort)
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

export interface CommandThere {
  /**
   * Sends the folder that the command needs and returns its remote path, or null if the command
   * needs no folder.
   */
  send: ((shell: Shell, facts: RemoteFacts, signal: AbortSignal) => Promise<string>) | null
  /**
   * Returns the command's arguments, given its job folder and the remote path of the sent folder.
   */
  words: (job: string, folder: string | null) => readonly string[]
  /** Name of a file that the command writes to its job folder and that is copied back afterward. */
  file?: string
}

/**
 * Runs one of this program's commands on the named machine. Forwards the command's notes and
 * returns its output.
 */
export async function runWords(
  folders: Pick<Folders, 'config'>,
  name: string,
  { send, words, file }: CommandThere,
  options: {
    signal: AbortSignal
    onNote: (text: string) => void
    onNotice: RemoteOptions['onNotice']
  },
): Promise<{ code: number; stdout: string; file: string | null }> {
  const machine = await openMachine(folders, name)
  const { shell } = machine
  const ready = await prepare(machine, options)
  const sent = send && (await send(shell, ready.facts, options.signal))
  let stdout = ''
  let stderr = ''
  const { end, place } = await runJob(
    machine,
    ready,
    (job) => ({ kind: 'words', words: [...words(job, sent)] }),
    {
      ...options,
      onLine(line) {
        if (line.type === 'begun') stdout = ''
        if (line.type === 'out') stdout += line.text
        if (line.type !== 'err') return
        stderr += line.text
        const whole = stderr.lastIndexOf('\n')
        if (whole >= 0) options.onNote(stderr.slice(0, whole))
        stderr = stderr.slice(whole + 1)
      },
    },
  )
  if (stderr !== '') options.onNote(stderr)
  const text =
    file === undefined
      ? null
      : await answer(shell, 'its results', `cat ${quoted(`${place.folder}/${file}`)}`).then(
          (lines) => lines.join('\n'),
          () => null,
        )
  await removeJob(shell, place).catch(() => undefined)
  if (end.error) throw new KernelLadderError(end.error.kind, end.error.message, end.error.remedy)
  return { code: end.code, stdout, file: text }
}
