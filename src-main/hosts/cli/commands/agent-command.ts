/**
 * `kernel-ladder __agent`: the entry point of the program on a remote machine. The command writes
 * one line per event to a file.
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import type { SetUp } from '../../../adapters/machine/machine'
import { RunRequest } from '../../../contract'
import { exitCodes, toErrorShape } from '../../../domain/errors'
import { startRun } from '../../../services/targets/start-run'
import { appVersion } from '../../../services/version'
import { onStop } from '../stop-signals'
import { Job, type JobLine } from '../../../domain/remote/job-protocol'
import { trustFolder } from '../../../services/folders/folder-trust'

type RunProgram = (words: readonly string[], setUp: SetUp) => Promise<number>

/** Runs a job. For jobs that are commands, `runProgram` runs the command line. */
export async function agentCommand(
  setUp: SetUp,
  [jobFile, eventsFile]: readonly [string, string],
  runProgram: RunProgram,
): Promise<number> {
  // Keep the file open until the end, because messages can also arrive during shutdown.
  const events = openSync(eventsFile, 'a', 0o600)
  // Write each line in a single call, so that readers rarely see a partial line.
  const write = (line: JobLine): void => {
    writeSync(events, `${JSON.stringify(line)}\n`)
  }
  const none = { folder: null, id: null, missing: null, unsaved: null, error: null }
  write({ type: 'begun', host: process.env.SLURMD_NODENAME ?? hostname() })
  try {
    const job = Job.parse(JSON.parse(readFileSync(jobFile, 'utf8')))
    const end =
      job.kind === 'run'
        ? await runSession(setUp, job, write)
        : { code: await withOutput(write, () => runProgram(wordsOf(job), setUp)) }
    write({ type: 'end', ...none, ...end })
    return 0
  } catch (error) {
    const shape = toErrorShape(error)
    write({ type: 'end', ...none, code: exitCodes[shape.kind], error: shape })
    return exitCodes[shape.kind]
  }
}

/**
 * Returns the arguments of a job's command. In an array task, the task's number replaces `{task}`.
 */
const wordsOf = ({ words }: Extract<Job, { kind: 'words' }>): string[] =>
  words.map((word) => word.replaceAll('{task}', process.env.SLURM_ARRAY_TASK_ID ?? ''))

async function runSession(
  setUp: SetUp,
  { request, settings, folder, out }: Extract<Job, { kind: 'run' }>,
  write: (line: JobLine) => void,
) {
  const setup = await setUp()
  const abort = new AbortController()
  const stop = (): void => {
    abort.abort()
  }
  onStop(stop, stop)
  if (folder !== null) await trustFolder(setup.machine.folders, folder)
  const result = await startRun(RunRequest.parse(request), {
    ...{ ...setup, out, appVersion, settings, signal: abort.signal },
    emit: (event) => {
      write({ type: 'event', event })
    },
  })
  const { missing, unsaved } = result
  return { code: 0, folder: result.folder, id: result.session.id, missing, unsaved }
}

/** Runs the work and converts its printed output to event lines. */
async function withOutput(
  write: (line: JobLine) => void,
  work: () => Promise<number>,
): Promise<number> {
  const put =
    (type: 'out' | 'err') =>
    (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
      write({ type, text: Buffer.from(chunk as Uint8Array).toString('utf8') })
      const written = typeof encoding === 'function' ? encoding : done
      if (typeof written === 'function') (written as () => void)()
      return true
    }
  process.stdout.write = put('out') as typeof process.stdout.write
  process.stderr.write = put('err') as typeof process.stderr.write
  return work()
}
