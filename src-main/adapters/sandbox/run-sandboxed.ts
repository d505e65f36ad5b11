/**
 * Runs a program in a sandbox. Stops the program when it exceeds a limit, and kills the processes
 * that it leaves behind.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { message, type Statement } from '../../domain/messages/message'
import { runProcess, type ProcessResult } from '../tools/process'
import { descendants, processIds } from '../tools/process-tree'
import { placeOf, tasksOf, wrapOf, type Limits, type Sandbox } from './sandbox'

export type SandboxResult = ProcessResult & {
  /** Reason why the program was stopped early, or null if the program was not stopped. */
  stopped: Statement | null
}

const pageBytes = 4096
const watchMs = 150

/**
 * Returns the resident memory of the given processes in bytes. Processes that have exited
 * contribute zero.
 */
function residentBytes(pids: readonly number[]): number {
  let pages = 0
  for (const pid of pids)
    try {
      pages += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0)
    } catch {
      continue
    }
  return pages * pageBytes
}

/**
 * Kills processes that left the program's process tree. They are identified by `mark`, the value of
 * an environment variable.
 */
async function sweep(mark: string): Promise<void> {
  for (const name of processIds()) {
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
    if (!environment.includes(mark)) continue
    try {
      process.kill(Number(name), 'SIGKILL')
    } catch {
      // Ignore the error, because the process has already exited.
    }
  }
}

/** Runs the program in the sandbox. The program's environment contains only the given variables. */
export async function runSandboxed(
  sandbox: Sandbox,
  call: { work: string; command: readonly string[]; env: Record<string, string> },
  limits: Limits,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const mark = `KERNEL_LADDER_GRADED=${randomBytes(12).toString('hex')}`
  const [markName, markValue] = mark.split('=') as [string, string]
  const abort = new AbortController()
  let stopped: Statement | null = null
  const stop = (why: Statement): void => {
    stopped ??= why
    abort.abort()
  }
  const tooMuch = message('labs.usedMemory', { size: (limits.memoryBytes / 2 ** 30).toFixed(1) })
  const watch = (pid: number): void => {
    const tree = [pid, ...descendants(pid)]
    if (tree.length > limits.processes)
      stop(message('labs.hadProcesses', { count: limits.processes }))
    if (residentBytes(tree) > limits.memoryBytes) stop(tooMuch)
  }
  let timer: NodeJS.Timeout | undefined
  const group = (await sandbox.makeGroup?.()) ?? null
  const argv = [
    ...(group?.prefix ?? []),
    ...wrapOf(sandbox.mechanism)(placeOf(sandbox, call.work, limits), call.command),
  ]
  try {
    const result = await runProcess({
      file: argv[0]!,
      args: argv.slice(1),
      cwd: call.work,
      ownEnv: true,
      env: { ...call.env, [markName]: markValue },
      timeoutMs: limits.seconds * 1000,
      outputLimit: limits.outputBytes,
      signal: AbortSignal.any([signal, abort.signal]),
      onSpawn: (pid) => {
        timer = setInterval(() => watch(pid), watchMs)
      },
    })
    if (result.outcome === 'timeout')
      stopped = message('labs.tookTime', { seconds: limits.seconds })
    if (result.outcome === 'flooded') stopped = message('labs.printed')
    const met = await group?.met()
    if (met === 'memory') stopped ??= tooMuch
    if (met === 'tasks') stopped ??= message('labs.hadTasks', { count: tasksOf(limits) })
    return { ...result, stopped }
  } finally {
    clearInterval(timer)
    await group?.end()
    await sweep(mark)
  }
}
