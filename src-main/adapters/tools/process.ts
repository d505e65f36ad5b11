/**
 * Runs a program to completion, streams its output by line, and kills its whole process tree if it is cancelled,
 * overdue or silent. The only importer of execa.
 *
 * Failures are results: nothing is thrown if a program is missing, fails or hangs. If a listener throws, the program
 * is killed, and the error is rethrown after it has ended.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { execa } from 'execa'
import { KernelLadderError } from '../../domain/errors'
import { whenAborted } from './abort'
import { descendants, nameOf, signalQuietly, killTree } from './process-tree'

export type PassOn = (stream: 'stdout' | 'stderr', text: string) => void | Promise<void>

export interface ProcessCall {
  file: string
  args: readonly string[]
  cwd?: string
  env?: Readonly<Record<string, string>>
  /** Use only `env` as the environment, without ours. */
  ownEnv?: boolean
  onStdoutLine?: (line: string) => void
  /** The program's stdin; empty by default. */
  input?: Uint8Array
  /** Milliseconds without a byte on stdout or stderr after which the tree is killed. */
  idleMs?: number
  /** Total milliseconds after which the tree is killed. */
  timeoutMs?: number
  /** Characters per stream after which the tree is killed; 256 Mi by default. */
  outputLimit?: number
  /**
   * Receives all output as it arrives, without a limit; only the first characters are kept. While the promise from
   * `to` is pending, the stream is not read, and the program waits as for a slow pipe.
   */
  passOn?: { to: PassOn; keep: number }
  signal?: AbortSignal
  /**
   * On cancellation or timeout, first kills the program's descendants, except those with its own name. The program
   * then has this many milliseconds to report.
   */
  lastWords?: { name: string; ms: number }
  /** Called with the process id once it has started. */
  onSpawn?: (pid: number) => void
}

export type ProcessOutcome =
  | 'exited'
  | 'signalled'
  | 'not-found'
  | 'idle'
  | 'timeout'
  | 'flooded'
  | 'cancelled'

export interface ProcessResult {
  outcome: ProcessOutcome
  exitCode: number | null
  signal: string | null
  stdout: string
  stderr: string
  seconds: number
  /** Whether the answer was kept from an earlier call; set only in replays. */
  reused?: boolean
  /** The recorded arguments, which may differ in older versions; set only in replays. */
  argv?: readonly string[]
}

/** A program that prints endlessly is killed after this much output per stream. */
export const outputLimitBytes = 256 * 1024 * 1024

/** How long to keep reading the streams of a killed tree. */
const killGraceMs = 3000

/** Splits a text stream into lines, buffering incomplete ones. */
function lineSplitter(onLine: (line: string) => void) {
  let parts: string[] = []
  return {
    push(text: string) {
      const lines = text.split('\n')
      const rest = lines.pop() ?? ''
      for (const line of lines) {
        const whole = [...parts, line].join('')
        parts = []
        onLine(whole.endsWith('\r') ? whole.slice(0, -1) : whole)
      }
      if (rest !== '') parts.push(rest)
    },
    end() {
      if (parts.length > 0) onLine(parts.join(''))
      parts = []
    },
  }
}

/** Process groups to kill when this program exits for any reason. */
const running = new Set<number>()
process.on('exit', () => {
  for (const pid of running) signalQuietly(-pid, 'SIGKILL')
})

const asMishap = (error: unknown, file: string): KernelLadderError =>
  error instanceof KernelLadderError
    ? error
    : new KernelLadderError(
        'internal',
        `The output of ${file} could not be read: ${error instanceof Error ? error.message : String(error)}`,
        undefined,
        { cause: error },
      )

export async function runProcess(call: ProcessCall): Promise<ProcessResult> {
  const started = performance.now()
  const result = (partial: Partial<ProcessResult>): ProcessResult => ({
    outcome: 'exited',
    exitCode: null,
    signal: null,
    stdout: '',
    stderr: '',
    ...partial,
    seconds: (performance.now() - started) / 1000,
  })
  if (call.signal?.aborted) return result({ outcome: 'cancelled' })

  const child = execa(call.file, [...call.args], {
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    env: { LC_ALL: 'C', ...call.env },
    extendEnv: call.ownEnv !== true,
    ...(call.input === undefined ? { stdin: 'ignore' as const } : { input: call.input }),
    buffer: false,
    reject: false,
    // In its own process group, so that all of it can be killed.
    detached: true,
  })
  if (child.pid !== undefined) {
    running.add(child.pid)
    call.onSpawn?.(child.pid)
  }

  let ended: ProcessOutcome | null = null
  let patience: NodeJS.Timeout | undefined
  const kill = (outcome: ProcessOutcome): void => {
    if (ended) return
    ended = outcome
    if (child.pid === undefined) return
    if (call.lastWords === undefined || outcome === 'flooded') return killAll(child.pid)
    for (const member of descendants(child.pid))
      if (nameOf(member) !== call.lastWords.name) signalQuietly(member, 'SIGKILL')
    patience = setTimeout(killAll, call.lastWords.ms, child.pid)
  }
  const killAll = (pid: number): void => {
    killTree(pid)
    // An escaped descendant may keep our pipes open; do not wait for it.
    setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }, killGraceMs).unref()
  }

  let idleTimer: NodeJS.Timeout | undefined
  const touch = (): void => {
    if (call.idleMs === undefined) return
    clearTimeout(idleTimer)
    idleTimer = setTimeout(() => {
      kill('idle')
    }, call.idleMs)
  }
  const deadline =
    call.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          kill('timeout')
        }, call.timeoutMs)
  const forget = call.signal && whenAborted(call.signal, () => kill('cancelled'))
  touch()

  // An exception inside a stream handler would end this program and every other job.
  let mishap: KernelLadderError | null = null
  const guarded =
    (onLine: (line: string) => void) =>
    (line: string): void => {
      if (mishap) return
      try {
        onLine(line)
      } catch (error) {
        mishap = asMishap(error, call.file)
        kill('cancelled')
      }
    }

  const reading = { stdout: Promise.resolve(), stderr: Promise.resolve() }
  const collect = (name: 'stdout' | 'stderr', onLine?: (line: string) => void) => {
    const stream: NodeJS.ReadableStream | null = child[name]
    const { passOn } = call
    const chunks: string[] = []
    let size = 0
    const lines = onLine && lineSplitter(guarded(onLine))
    stream?.setEncoding('utf8')
    stream?.on('data', (text: string) => {
      touch()
      if (passOn) {
        const taken = passOn.to(name, text)
        if (taken) {
          stream.pause()
          reading[name] = taken.finally(() => stream.resume())
        }
        if (size < passOn.keep) chunks.push(text.slice(0, passOn.keep - size))
        size += text.length
        return
      }
      size += text.length
      if (size > (call.outputLimit ?? outputLimitBytes)) {
        kill('flooded')
        return
      }
      chunks.push(text)
      lines?.push(text)
    })
    stream?.on('end', () => lines?.end())
    return () => chunks.join('')
  }
  const stdout = collect('stdout', call.onStdoutLine)
  const stderr = collect('stderr')

  try {
    const finished = await child
    await Promise.all(Object.values(reading))
    if (mishap) throw mishap as KernelLadderError
    if (finished.code === 'ENOENT' || finished.code === 'EACCES')
      return result({ outcome: 'not-found', stderr: finished.shortMessage ?? '' })
    return result({
      outcome: ended ?? (finished.signal ? 'signalled' : 'exited'),
      exitCode: finished.exitCode ?? null,
      signal: finished.signal ?? null,
      stdout: stdout(),
      stderr: stderr(),
    })
  } finally {
    if (child.pid !== undefined) running.delete(child.pid)
    clearTimeout(idleTimer)
    clearTimeout(deadline)
    clearTimeout(patience)
    // Kill what the program left in its group.
    if (patience && child.pid !== undefined) signalQuietly(-child.pid, 'SIGKILL')
    forget?.()
  }
}

/**
 * Starts one of our programs that exchanges messages with this one through Node's channel. It is killed when this
 * program exits.
 */
export function startPeer({
  file,
  args,
  env,
}: Pick<ProcessCall, 'file' | 'args'> & { env: Readonly<Record<string, string>> }): {
  peer: ChildProcess
  kill: () => void
} {
  const peer = spawn(file, [...args], {
    ...{ env, detached: true, serialization: 'advanced' as const },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const { pid } = peer
  if (pid !== undefined) running.add(pid)
  peer.once('exit', () => running.delete(pid!))
  return { peer, kill: () => pid !== undefined && killTree(pid) }
}

export interface LetGo {
  /** `running`: it had not ended when the wait was over. */
  outcome: 'running' | 'exited' | 'not-found'
  exitCode: number | null
}

/** Starts a user's program that outlives this one, such as an editor with unsaved work. Its output is ignored. */
export async function letGo(
  file: string,
  args: readonly string[],
  patienceMs: number,
): Promise<LetGo> {
  const child = execa(file, [...args], {
    stdio: 'ignore',
    detached: true,
    cleanup: false,
    reject: false,
  })
  child.unref()
  const ended = await Promise.race([
    child,
    new Promise<null>((still) => setTimeout(() => still(null), patienceMs)),
  ])
  if (ended === null) return { outcome: 'running', exitCode: null }
  return ended.code === 'ENOENT' || ended.code === 'EACCES'
    ? { outcome: 'not-found', exitCode: null }
    : { outcome: 'exited', exitCode: ended.exitCode ?? null }
}
