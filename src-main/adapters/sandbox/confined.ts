/**
 * Provides the tools that a judge uses. Every tool that processes a submission's code runs in a
 * separate sandbox.
 *
 * nvcc can read the source and its headers. The launch probe can read only the library that it
 * loads. The tools return only a compiled library, compiler messages, and the description of
 * launches. The description is parsed as untrusted text.
 */
import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { MachineCode } from '../../domain/sass/machine-code'
import { readCubin } from '../../parsers/cubin/cubin'
import { parseRunnerLine, type RunnerEventOf } from '../../parsers/cuda/runner-events'
import { runProcess, type ProcessResult } from '../tools/process'
import { liveToolbox } from '../tools/live-toolbox'
import type { RawRecorder, ToolCall, Toolbox } from '../tools/toolbox'
import { caseLines, type CaseWords } from './replay-plan'
import { measureBlind } from './blind-run'
import { emulatorsIn } from './emulator-process'
import { foreignFiles, includedFiles, searchedFolders } from './headers'
import { Mechanism, placeOf, wrapOf, type Limits } from './sandbox'
import { removeTree, type Place } from './view'
import { cubinsOf } from '../../parsers/cubin/fat-binary'
import { parseProbedLaunches } from '../../parsers/cuda/launch-probe'

export const Confinement = z.object({
  mechanism: Mechanism,
  /** An empty folder on which the sandbox mounts its views of the file system. */
  view: z.string(),
  readable: z.array(z.string()),
  hidden: z.array(z.string()),
})
export type Confinement = z.infer<typeof Confinement>

/**
 * The probe's output for a submission and one problem. With the probe's output, a grade can be
 * reproduced without running the host code.
 */
export const Description = z.object({
  /** The SHA-256 hash of the described machine code. */
  cubin: z.string(),
  /** The SHA-256 hash of the request: the launch struct, the GPU, and the kernels' parameters. */
  asked: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  outcome: z.enum(['exited', 'signalled', 'not-found', 'idle', 'timeout', 'flooded', 'cancelled']),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
})
export type Description = z.infer<typeof Description>

const sha256 = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/**
 * Maximum size of a description in bytes. A description's size is usually a few kilobytes, but a
 * table copied from the host can take megabytes.
 */
const descriptionLimit = 64 * 2 ** 20

/**
 * Environment variables that tools need. Other variables are removed, because they may contain
 * tokens or other secrets.
 */
const toolVariables = [
  ...['PATH', 'LANG', 'LD_LIBRARY_PATH', 'CUDA_HOME', 'CUDA_PATH', 'KERNEL_LADDER_PATH_ONLY'],
] as const

/**
 * Returns the environment variables that a program may see. The result contains the variables that
 * tools need, and the variables for the tests' fake tools.
 */
export const variablesFor = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (toolVariables.some((name) => name === entry[0]) || entry[0].startsWith('FAKE')),
    ),
  )

/**
 * Returns the source path to pass to the compiler. Machine code contains the source path.
 * Therefore, the path depends only on the build inputs, not on the cache's location.
 */
const reproducible = (sources: string): string => `/${sources.split('/').slice(-3).join('/')}`

/**
 * Prints the compiler's output file and the list of included files, because only stdout leaves the
 * sandbox.
 */
const compileScript = `at=$(mktemp -d)
"$@" -MD -MF "$at/included" -o "$at/built" 1>&2 && base64 -w 0 "$at/built" && echo && cat "$at/included"`

interface Confined {
  toolbox: (recorder: RawRecorder | null) => Toolbox
  /** Returns the host code's descriptions of its launches, in order. */
  descriptions: () => Description[]
}

/** This project's tools that a run on a GPU needs. */
export interface GpuTools {
  /** The launch probe's path. */
  probe: string
  /** Path of the rung that replays a description (cuda-kernels/judge). */
  replay: string
}

interface ConfinedOptions {
  confinement: Confinement
  limits: Limits
  /** The submission's rung id. */
  submission: string
  /**
   * Descriptions from an earlier grading. If not null, the submission's host code does not run
   * again.
   */
  known: readonly Description[] | null
  /** Folder for the replay plans. */
  folder: string
  /** Returns the GPU tools. Called when a submission first runs on a GPU. */
  gpuTools: (toolbox: Toolbox) => Promise<GpuTools>
}

export function confinedTools(options: ConfinedOptions): Confined {
  const { confinement, limits, submission, known, folder, gpuTools } = options
  const { mechanism, ...view } = confinement
  const described: Description[] = []
  const wrap = wrapOf(mechanism)
  let device: RunnerEventOf<'device'> | null = null
  let tools: Promise<GpuTools> | null = null
  let plans = 0

  const isolated = async (
    call: ToolCall,
    { readable = [], ...own }: Partial<Place> & Pick<Place, 'work'>,
    command: readonly string[],
    outputLimit: number,
  ): Promise<ProcessResult> => {
    const shown = { ...view, readable: [...view.readable, ...readable] }
    const place = { ...placeOf(shown, own.work, limits), ...own }
    const [file, ...args] = wrap(place, command)
    return runProcess({
      ...{ file: file!, args, cwd: own.work, ownEnv: true, outputLimit },
      env: variablesFor(process.env),
      ...(call.timeoutMs === undefined ? {} : { timeoutMs: call.timeoutMs }),
      ...(call.signal ? { signal: call.signal } : {}),
    })
  }

  const compile = async (call: ToolCall): Promise<ProcessResult> => {
    const named = call.args.indexOf('-o')
    const output = call.args[named + 1]!
    const args = call.args.filter((_, index) => index !== named && index !== named + 1)
    // Don't link the CUDA runtime. The probe replaces the runtime on every target.
    const runtime = args.includes('-cudart') ? [] : ['-cudart', 'none']
    if (mechanism.by === 'none')
      return runProcess({ ...call, args: [...args, ...runtime, '-o', output] })
    const at = reproducible(call.cwd!)
    const [result, searched] = await Promise.all([
      isolated(
        call,
        { work: call.cwd!, at },
        ['sh', '-c', compileScript, 'sh', call.file, ...args, ...runtime],
        2 * limits.fileBytes,
      ),
      searchedFolders(call.file, call.cwd!),
    ])
    if (result.outcome !== 'exited' || result.exitCode !== 0) return { ...result, stdout: '' }
    const [built = '', ...rule] = result.stdout.split('\n')
    const [foreign] = foreignFiles(includedFiles(rule.join('\n'), at), [
      ...[at, ...view.readable],
      ...searched,
    ])
    if (foreign !== undefined)
      return {
        ...result,
        stdout: '',
        stderr: `error: ${foreign} is neither a file of the submission nor in a folder that the compiler searches\n`,
        exitCode: 1,
      }
    await writeFile(output, Buffer.from(built, 'base64'), { mode: 0o755 })
    return { ...result, stdout: '' }
  }

  const describe = async (call: ToolCall): Promise<ProcessResult> => {
    const at = call.args.indexOf('--library')
    const library = call.args[at + 1]!
    const bytes = await readFile(library)
    const request = {
      cubin: sha256(Buffer.concat(cubinsOf(bytes).map((cubin) => Buffer.from(cubin)))),
      asked: sha256(JSON.stringify([...call.args.slice(0, at), ...call.args.slice(at + 2)])),
    }
    const same = (one: Description): boolean =>
      one.cubin === request.cubin && one.asked === request.asked
    // Reuse the first answer, so that host code cannot answer a repeated request differently.
    const before = described.find(same) ?? known?.find(same)
    if (before) {
      if (!described.includes(before)) described.push(before)
      return { ...before, seconds: 0 }
    }
    for (const path of [call.file, library]) await chmod(path, 0o755)
    const args = call.args.map((word, index) => (index === at ? '--untrusted' : word))
    const work = await mkdtemp(join(tmpdir(), 'describe-'))
    try {
      const result = await isolated(
        call,
        { work, readable: [call.file, library], librariesOnly: true },
        [call.file, ...args],
        descriptionLimit,
      )
      const { stdout, stderr, outcome, exitCode, signal } = result
      described.push({ ...request, stdout, stderr: stderr.slice(-4096), outcome, exitCode, signal })
      return result
    } finally {
      await removeTree(work)
    }
  }

  /**
   * Creates a copy of the replay library, with a plan of the launches that the submission described
   * for these cases.
   */
  const replayOf = async (library: string, cases: readonly CaseWords[], call: ToolCall) => {
    const { probe, replay } = await (tools ??= gpuTools(toolbox(null)))
    const cubins = cubinsOf(await readFile(library))
    const modules = cubins.map((cubin) => readCubin(cubin))
    const lines = cubins.map((_, index) => `module ${index}.cubin`)
    for (const words of cases) {
      const result = await describe({
        ...{ tool: 'runner', key: `runner/launches-${submission}`, file: probe },
        args: [
          ...['--struct', words.structBytes, ...words.fields.flatMap((word) => ['--field', word])],
          ...(device ? deviceWords(device) : []),
          ...kernelWords(modules),
          ...['--library', library],
        ],
        timeoutMs: 30_000,
        ...(call.signal ? { signal: call.signal } : {}),
      })
      const answer = parseProbedLaunches(result.stdout) ?? unanswered(result)
      lines.push(...caseLines(modules, words, answer))
    }
    const own = join(folder, `plan-${(plans += 1)}`)
    await mkdir(own, { recursive: true })
    for (const [index, cubin] of cubins.entries())
      await writeFile(join(own, `${index}.cubin`), cubin)
    await writeFile(join(own, 'plan'), `# ${library}\n${lines.join('\n')}\n`)
    const copy = join(own, 'replay.so')
    await copyFile(replay, copy)
    return copy
  }

  /**
   * Replaces the submission with the replay of its description in every call that runs on a GPU.
   */
  const onGpu = async (call: ToolCall): Promise<ToolCall> => {
    const prefix = `${submission}=`
    const at = call.args.findIndex(
      (word, index) => word.startsWith(prefix) && call.args[index - 1] === '--rung',
    )
    if (at < 0) return call
    const named = call.args.find(
      (word, index) => word.startsWith(prefix) && call.args[index - 1] === '--rung-case',
    )
    const cases = casesIn(call.args)
    const own = named
      ? cases.filter(({ name }) => name === named.slice(prefix.length))
      : cases.slice(0, 1)
    const replay = await replayOf(call.args[at]!.slice(prefix.length), own, call)
    return { ...call, args: call.args.with(at, `${prefix}${replay}`) }
  }

  const run = async (call: ToolCall): Promise<ProcessResult> => {
    if (call.key === `nvcc/${submission}`) return compile(call)
    if (call.key === `runner/launches-${submission}`) return describe(call)
    const ready = await onGpu(call)
    const result =
      ready !== call && ready.args[0] === 'measure'
        ? await measureBlind(ready, submission, join(folder, `results-${plans}`))
        : await runProcess(ready)
    if (call.key === 'runner/device')
      for (const line of result.stdout.split('\n')) {
        const event = parseRunnerLine(line)
        if (event?.event === 'device') device = event
      }
    return result
  }
  const startEmulator = emulatorsIn(
    folder,
    (command, script, work) => {
      const shown = { ...view, readable: [...view.readable, script] }
      return wrap({ ...placeOf(shown, work, limits), librariesOnly: true }, command)
    },
    variablesFor(process.env),
  )
  const toolbox = (recorder: RawRecorder | null): Toolbox => ({
    ...liveToolbox(recorder, run),
    describedOnly: submission,
    startEmulator,
  })
  return { toolbox, descriptions: () => described }
}

/** Parses the cases in the arguments of a runner call. */
function casesIn(args: readonly string[]): (CaseWords & { name: string })[] {
  const cases: { name: string; structBytes: string; fields: string[]; buffers: string[] }[] = []
  for (const [index, word] of args.entries()) {
    const value = args[index + 1] ?? ''
    if (word === '--case') cases.push({ name: value, structBytes: '', fields: [], buffers: [] })
    const own = cases.at(-1)
    if (word === '--struct' && own) own.structBytes = value
    if (word === '--field') own?.fields.push(value)
    if (word === '--buffer') own?.buffers.push(value)
  }
  return cases
}

const deviceWords = (device: RunnerEventOf<'device'>): string[] => [
  ...['--sm', device.computeCapability.replace('.', ''), '--sms', String(device.smCount)],
  ...['--shared-optin', String(device.sharedPerBlockOptinBytes)],
  ...['--shared-per-sm', String(device.sharedPerSmBytes)],
  ...['--threads-per-sm', String(device.maxThreadsPerSm)],
  ...['--blocks-per-sm', String(device.maxBlocksPerSm)],
]

const kernelWords = (modules: readonly MachineCode[]): string[] =>
  modules.flatMap(({ kernels }) =>
    kernels.flatMap(({ name, parameters, registers, sharedBytes }) => [
      ...[
        '--kernel',
        `${name}=${parameters.list.map(({ offset, size }) => `${offset}+${size}`).join(',')}`,
      ],
      ...(registers === null ? [] : ['--resources', `${name}=${registers},${sharedBytes}`]),
    ]),
  )

/**
 * Returns the `launches` event for host code that crashed the probe or prevented the probe's
 * output.
 */
const unanswered = ({ outcome, exitCode, signal }: ProcessResult) => ({
  ...{ event: 'launches' as const, kernels: [], fault: 'failed' as const },
  reason: `its host code ended without describing its work (${signal ?? exitCode ?? outcome})`,
})
