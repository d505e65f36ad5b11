/**
 * Runs main() from a user's file in a sandbox, with a replacement for the CUDA runtime
 * (cuda-kernels/probe/program.cpp).
 *
 * The program can only run computations and read files in its folder. The sandbox prevents the
 * program from writing files, opening connections, and starting other programs.
 */
import { chmod, copyFile, mkdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownFolder } from '../disk/owned-folder'
import { runProcess } from '../tools/process'
import { parseRecordedProgram, type RecordedProgram } from '../../parsers/cuda/recorded-program'
import { message, type Statement } from '../../domain/messages/message'
import { variablesFor } from './confined'
import { runSandboxed } from './run-sandboxed'
import { findSandbox, type Limits } from './sandbox'
import { removeTree } from './view'

export type { RecordedLaunch } from '../../parsers/cuda/recorded-program'

export interface MainCall {
  /** Path of the kl-program executable. */
  recorder: string
  /** The path of the user's file, built as a library without a CUDA runtime. */
  library: string
  /** Folder in which main() runs, which is the file's folder. */
  folder: string
  /** Arguments for the recorder that describe the GPU and the kernels. */
  words: readonly string[]
  /** Arguments for the user's program. */
  args: readonly string[]
  seconds: number
  signal: AbortSignal
}

export interface RecordedMain extends RecordedProgram {
  /**
   * Whether the program ran in separate namespaces. A system call filter is active even without
   * namespaces.
   */
  isIsolated: boolean
  seconds: number
  /** Reason why main() was stopped, or null if main() ended normally. */
  stopped: Statement | null
}

/** Returns demangled kernel names without running any user code. */
export async function demangledKernels(
  recorder: string,
  words: readonly string[],
  signal: AbortSignal,
): Promise<RecordedProgram['kernels']> {
  const { stdout } = await runProcess({ file: recorder, args: words, timeoutMs: 30_000, signal })
  return parseRecordedProgram(stdout).kernels
}

const limitsFor = (seconds: number): Limits => ({
  seconds,
  memoryBytes: 8 * 2 ** 30,
  processes: 8,
  outputBytes: 128 * 2 ** 20,
  fileBytes: 2 ** 20,
  diskBytes: 16 * 2 ** 20,
})

/** Matches the dynamic linker's error message for a function that the probe does not implement. */
const lacking = /symbol lookup error: .*undefined symbol: (\w+)/

export async function recordMain(call: MainCall): Promise<RecordedMain> {
  const limits = limitsFor(call.seconds)
  const owned = await ownFolder(await realpath(tmpdir()), 'kernel-ladder-main')
  try {
    // The sandbox mounts its views as the root user of a user namespace. File permissions treat the
    // namespace's root as a different user, so other users must be able to enter the folder.
    await chmod(owned.path, 0o711)
    const [view, work] = [join(owned.path, 'view'), join(owned.path, 'work')]
    for (const path of [view, work]) await mkdir(path)
    const [recorder, library] = [join(work, 'kl-program'), join(work, 'program.so')]
    await copyFile(call.recorder, recorder)
    await copyFile(call.library, library)
    for (const path of [recorder, library]) await chmod(path, 0o755)
    const sandbox = await findSandbox(limits, view, { readable: [call.folder], hidden: [] })
    const command = [
      recorder,
      ...call.words,
      ...['--library', library, '--folder', call.folder, '--seconds', String(call.seconds)],
      ...call.args.flatMap((word) => ['--argument', word]),
    ]
    const env = variablesFor(process.env)
    const result = await runSandboxed(sandbox, { work, command, env }, limits, call.signal)
    const recorded = parseRecordedProgram(result.stdout)
    const [, name] = lacking.exec(result.stderr) ?? []
    const last = result.stderr.trim().split('\n').pop() ?? ''
    const crashed =
      result.outcome === 'signalled' || (result.exitCode ?? 0) !== 0
        ? message('init.mainCrashed', {
            how: result.signal ?? String(result.exitCode ?? ''),
            text: last === '' ? '' : `: ${last.slice(0, 300)}`,
          })
        : null
    const stopped =
      name !== undefined
        ? message('init.mainLacks', { name })
        : recorded.ended
          ? null
          : (result.stopped ?? crashed ?? message('init.mainEndedEarly'))
    const isIsolated = sandbox.isolation.by !== 'none'
    return { ...recorded, isIsolated, seconds: result.seconds, stopped }
  } finally {
    await removeTree(owned.path)
    await owned.remove()
  }
}
