/**
 * Runs a program to completion and streams its output line by line. Kills the whole process tree if
 * the run is canceled, times out, or prints nothing for too long. Only this module imports execa.
 *
 * A missing, failed, or hanging program is a result, not an exception. If a listener throws an
 * error, the program is killed. The error is thrown again after the program has exited.
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
  /** Whether the environment contains only `env` and none of this process's variables. */
  ownEnv?: boolean
  onStdoutLine?: (line: string) => void
  /** Data for the program's stdin. Empty by default. */
  input?: Uint8Array
  /**
   * If the program prints nothing to stdout or stderr for this many milliseconds, its process tree
   * is killed.
   */
  idleMs?: number
  /** Total run time in milliseconds after which the process tree is killed. */
  timeoutMs?: number
  /**
   * Maximum number of characters per stream. The process tree is killed if a stream exceeds the
   * maximum. The default is 256 Mi characters.
   */
  outputLimit?: number
  /**
   * Receives all output as it arrives, without a limit. Only the first `keep` characters are
   * stored. While the promise returned by `to` is pending, the stream is not read. The program then
   * blocks, as it would on a slow pipe.
   */
  passOn?: { to: PassOn; keep: number }
  signal?: AbortSignal
  /**
   * On cancellation or timeout, the program's descendants are killed first, except processes named
   * `name`. The program then has `ms` milliseconds to report its results.
   */
  lastWords?: { name: string; ms: number }
  /** Called with the process id after the program has started. */
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
  /** In a replay, whether the output comes from an earlier call, as for a cached build. */
  reused?: boolean
  /**
   * In a replay, the recorded arguments, which may differ from the arguments that this version
   * would use.
   */
  argv?: readonly string[]
}

/** Output limit per stream. A program that prints endlessly is killed at this limit. */
export const outputLimitBytes = 256 * 1024 * 1024

/** Milliseconds to continue reading a killed process tree's streams. */
const killGraceMs = 3000

/** Splits a text stream into lines and buffers incomplete lines. */
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
    // Start a separate process group, so that the whole group can be killed.
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
    // A surviving descendant can keep the pipes open, so stop waiting for the end of the streams.
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

  // Catch exceptions in stream handlers, because an exception would terminate this program and
  // every other job.
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
    // Kill the remaining processes in the program's group.
    if (patience && child.pid !== undefined) signalQuietly(-child.pid, 'SIGKILL')
    forget?.()
  }
}

/**
 * Starts another program of this project that exchanges messages through Node's IPC channel.
 * The child is killed when this program exits.
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
  /**
   * Outcome of starting the program. `running` means that the program had not exited when the wait
   * was over.
   */
  outcome: 'running' | 'exited' | 'not-found'
  exitCode: number | null
}

/**
 * Starts a user's program that keeps running after this program exits, such as an editor with
 * unsaved work. Ignores its output.
 */
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
