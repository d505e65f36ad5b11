/** Proposes a ladder folder from a user's .cu file: `init DIR --from FILE.cu`. */
import { readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Setup } from '../../../adapters/machine/machine'
import { makeFolder, pathExists } from '../../../adapters/disk/disk'
import {
  demangledKernels,
  recordMain,
  type RecordedMain,
} from '../../../adapters/sandbox/record-main'
import { gpuWords, layoutWords } from '../../../adapters/tools/launch-probe'
import type { Catalog } from '../../../adapters/catalog/catalog'
import { readLadderFolder, shownPath } from '../../../adapters/catalog/ladder-folder'
import { inputError, missingError } from '../../../domain/errors'
import { message, type Statement } from '../../../domain/messages/message'
import type { BuildGpu } from '../../../domain/gpu/gpu-table'
import type { BuildSettings } from '../../../domain/ladder/build-settings'
import { largestOf } from '../../../domain/proposal/contents'
import { propose, type KernelLaunch, type Proposal } from '../../../domain/proposal/proposal'
import {
  equalSizes,
  exchanged,
  keptEqual,
  marked,
  settled,
  unequalSizes,
} from '../../../domain/proposal/equal-sizes'
import type { Sizes } from '../../../domain/task/problem'
import { signatureOf } from '../../../domain/proposal/signature'
import { ladderText, referenceText, rungText, type Origin } from '../../../domain/proposal/write'
import { functionsIn, sourceFunctions } from '../../../adapters/catalog/cuda-file'
import { hasMain, type SourceFunction } from '../../../domain/proposal/source'
import { Bench } from '../../bench/bench'
import { layoutsOf } from '../../run/emulate'
import { emulatedGpu } from '../../run/emulated-gpu'
import { newLadderFolder, writeSchema } from '../init'
import { trustFolder } from '../folder-trust'
import {
  chooseKernel,
  noArray,
  inventedLaunch,
  recordedLaunch,
  type ChosenKernel,
} from './choose-kernel'
import { compileFile, type CompiledFile } from './compile-file'
import { compileOptions } from './compile-options'
import { copySources, largeFolders } from './copy-sources'
import { ownLauncher, ownReference, type OwnReference } from './own-functions'
import { fitsAt, referenceFault, tryLadder, type Tried } from './try-ladder'

export interface FromFileRequest {
  file: string
  kernel?: string
  /** Include directories. */
  include: readonly string[]
  /** Macros in the form `NAME` or `NAME=VALUE`. */
  define: readonly string[]
  /** Command-line arguments for the file's main(). */
  args: readonly string[]
}

export interface FromFile {
  folder: string
  files: string[]
  kernel: string
  proposal: Proposal
  launcher: Origin['launcher']
  reference: string | null
  /**
   * A CPU function that has the kernel's parameters but computes a different result, and the reason
   * for the mismatch.
   */
  refusedReference: { name: string; why: Statement } | null
  /** Number of distinct kernel launches. Zero if no launch was recorded. */
  launches: number
  /** The recorded run of main(), or null if the file has no main(). */
  main: RecordedMain | null
  tried: Tried
  /**
   * Whether the rung launches the kernel exactly like the user's program at the recorded sizes.
   * Null if unknown.
   */
  isSameLaunch: boolean | null
  /** Variables of type long that the user's program sets and the rung does not set. */
  unset: string[]
}

/** Time limit for main() in seconds. Launches recorded before the limit are used. */
const mainSeconds = 20

const mostFileBytes = 2 ** 20

async function sourceText(file: string): Promise<string> {
  const found = await stat(file).catch(() => null)
  if (!found) throw inputError(`${shownPath(file)} does not exist.`)
  if (!found.isFile()) throw inputError(`${shownPath(file)} is not a file.`)
  if (found.size > mostFileBytes)
    throw inputError(`${shownPath(file)} has ${found.size} bytes; the limit is 1 MiB.`)
  const text = await readFile(file, 'utf8')
  if (text.includes('\0')) throw inputError(`${shownPath(file)} is not a text file.`)
  return text
}

interface Recorder {
  /** Path of kl-program. */
  recorder: string
  /** Arguments that describe the GPU and the kernels. */
  words: string[]
}

async function openRecorder(
  bench: Bench,
  { modules, resources }: CompiledFile,
  gpu: BuildGpu,
): Promise<Recorder> {
  const recorder = await bench.programRecorder()
  if ('reason' in recorder) throw missingError(recorder.reason, message('tools.hostCompiler'))
  return {
    recorder: recorder.artifact,
    words: [
      ...gpuWords(gpu),
      ...layoutWords(layoutsOf(modules)),
      ...resources.flatMap(({ name, registers, staticSharedBytes }) =>
        registers === null ? [] : ['--resources', `${name}=${registers},${staticSharedBytes ?? 0}`],
      ),
    ],
  }
}

/**
 * Whether the code uses instructions that require an architecture-specific target such as sm_90a.
 */
const isArchitectureSpecific = (text: string): boolean => /\bwgmma\b|\bsetmaxnreg\b/.test(text)

interface Draft {
  proposal: Proposal
  origin: Origin
  reference: OwnReference | null
}

async function write(folder: string, { proposal, origin, reference }: Draft): Promise<void> {
  await writeFile(join(folder, 'ladder.yaml'), ladderText(proposal, origin))
  await writeFile(join(folder, `${origin.rung}.cu`), rungText(proposal, origin))
  if (reference)
    await writeFile(join(folder, 'reference.cu'), referenceText(proposal, origin, reference))
}

/**
 * Replaces the buffer directions guessed from types with the directions observed in the machine
 * code.
 */
function directed(proposal: Proposal, { observed }: Tried): Proposal {
  if (!observed || observed.stop) return proposal
  const seen = new Map(observed.buffers.map((buffer) => [buffer.name, buffer]))
  const buffers = proposal.buffers.map((plain): Proposal['buffers'][number] => {
    const found = seen.get(plain.name)
    if (!found || plain.access === 'in') return plain
    const buffer = { ...plain, largest: largestOf(found.after, plain.dtype) }
    const { isRead, changed, isWhole } = found
    if (!changed && isRead)
      return {
        ...buffer,
        access: 'in',
        guesses: [...buffer.guesses, 'nothing was written to it at a smaller size'],
      }
    if (!isRead && isWhole) return { ...buffer, access: 'out' }
    return isRead
      ? buffer
      : {
          ...buffer,
          guesses: [
            ...buffer.guesses,
            'only a part of it is written, so the rest must have a value',
          ],
        }
  })
  // A ladder needs at least one output.
  return buffers.every(({ access }) => access === 'in') ? proposal : { ...proposal, buffers }
}

const sameLaunch = (tried: Tried, chosen: ChosenKernel): boolean | null => {
  const { launch } = chosen
  const found = tried.launched?.kernels.find(({ mangled }) => mangled === launch?.mangled)
  if (!launch || !tried.launched) return null
  return (
    found !== undefined &&
    found.grid.join() === launch.grid.join() &&
    found.block.join() === launch.block.join() &&
    found.dynamicSharedBytes === launch.dynamicSharedBytes
  )
}

const rungName = (base: string): string => `01_${base.replace(/[^A-Za-z0-9_]/g, '')}`.slice(0, 80)

/** Runs trials to distinguish sizes that have equal values. Marks sizes that remain undecided. */
async function settleSizes(
  proposal: Proposal,
  fits: (proposal: Proposal, sizes: Sizes[]) => Promise<boolean | null>,
): Promise<Proposal> {
  let found = proposal
  if (proposal.fixed !== null) return proposal
  for (const group of equalSizes(proposal)) {
    let outcome: boolean | null = false
    for (const other of exchanged(found, group)) {
      outcome = await fits(other, unequalSizes(other, group))
      if (outcome !== false) {
        found = outcome ? settled(other, group) : marked(found, group)
        break
      }
    }
    if (outcome === false) found = keptEqual(found, group)
  }
  return found
}

/** Facts about the user's file that are known before any file is written. */
interface Learnt {
  settings: BuildSettings
  compiled: CompiledFile
  functions: SourceFunction[]
  main: RecordedMain | null
  chosen: ChosenKernel
  launch: KernelLaunch
}

async function learn(
  bench: Bench,
  file: string,
  text: string,
  request: FromFileRequest,
  { gpu, scratch, tell }: { gpu: BuildGpu; scratch: string; tell: (notice: string) => void },
): Promise<Learnt> {
  const shown = shownPath(file)
  const runs = hasMain(sourceFunctions(text))
  const compiler = await bench.compiler()
  // Start the two builds early, because each build takes seconds and both are needed.
  for (const build of [bench.programRecorder, bench.launchProbe]) build().catch(() => undefined)
  const { settings, from } = await compileOptions(file, request)
  if (from !== null) tell(`Compiling it as ${from} says.`)
  const compiled = await compileFile(compiler, file, {
    settings,
    sm: isArchitectureSpecific(text) ? '90a' : '90',
    scratch,
  })
  const functions = await functionsIn(compiled.sources)
  const kernels = functions.filter(({ isKernel }) => isKernel)
  if (kernels.length === 0)
    throw inputError(
      `${shown} defines no __global__ function.`,
      'Give the file that contains the kernel.',
    )
  const { recorder, words } = await openRecorder(bench, compiled, gpu)
  const names = await demangledKernels(recorder, words, bench.signal)
  const { library } = compiled
  if (runs) tell(`Running main() of ${shown} without a GPU, to record what it launches.`)
  const main = runs
    ? await recordMain({
        ...{ recorder, library, words, folder: dirname(file), args: request.args },
        ...{ seconds: mainSeconds, signal: bench.signal },
      })
    : null
  const own = new Set(kernels.map(({ name }) => name))
  const chosen = chooseKernel({
    ...{ file: shown, wanted: request.kernel, kernels, launches: main?.launches ?? [] },
    stopped: main?.stopped ?? null,
    compiled: compiled.modules
      .flatMap((module) => module.kernels)
      .map((kernel) => ({ kernel, signature: signatureOf(names.get(kernel.name) ?? kernel.name) }))
      .filter(({ signature }) => own.has(signature.base)),
  })
  const launch = chosen.launch
    ? recordedLaunch(shown, chosen, chosen.launch)
    : inventedLaunch(shown, chosen)
  if (!launch.parameters.some(({ kind, pointer }) => kind.kind === 'pointer' && pointer !== null))
    throw noArray(shown, chosen.signature.call)
  return { settings, compiled, functions, main, chosen, launch }
}

/**
 * Replaces the beginning of a path with a matching environment variable such as CUTLASS_PATH. The
 * library's location differs between machines.
 */
function portable(directory: string): string {
  const named = Object.entries(process.env).flatMap(([name, value = '']) =>
    /_(PATH|DIR|ROOT|HOME)$/.test(name) &&
    value.length > 1 &&
    `${directory}/`.startsWith(`${value}/`)
      ? [{ name, value }]
      : [],
  )
  const [longest] = named.sort((a, b) => b.value.length - a.value.length)
  return longest ? `$${longest.name}${directory.slice(longest.value.length)}` : directory
}

/** Copies the user's file and its headers, and then writes the ladder's files. */
async function writeFirst(
  folder: string,
  id: string,
  { settings, compiled, functions, chosen, launch }: Learnt,
): Promise<Draft> {
  const { include = [], ...others } = settings
  const kept = largeFolders(compiled.sources, include)
  const [own] = await copySources(compiled.sources, include, kept, folder)
  await writeSchema(folder)
  const proposal = propose(launch)
  const draft: Draft = {
    proposal,
    origin: {
      id,
      file: basename(compiled.file),
      included: own!.to,
      rung: rungName(chosen.signature.base),
      call: chosen.signature.call,
      requires: compiled.sm === '90' ? null : `sm_${compiled.sm}`,
      launcher: ownLauncher(functions, chosen, proposal),
      symbols: (chosen.launch?.symbols ?? []).flatMap(({ name, data }) =>
        data === null ? [] : [{ name, data }],
      ),
      wasRecorded: launch.wasRecorded,
      build: { ...others, ...(kept.length > 0 ? { include: kept.map(portable) } : {}) },
      libraries: compiled.libraries,
      reference: null,
    },
    reference: null,
  }
  await write(folder, draft)
  return draft
}

/**
 * Runs the proposed ladder. Determines the buffers' directions, whether smaller sizes work, and
 * whether the launch matches the program's launch.
 */
async function refine(
  bench: Bench,
  folder: string,
  first: Draft,
  { chosen, launch, functions }: Learnt,
  gpu: BuildGpu,
  shipped: Catalog,
): Promise<{ draft: Draft; tried: Tried; refused: FromFile['refusedReference'] }> {
  const attempt = async (): Promise<Tried> => {
    const { catalog, ladder } = await readLadderFolder(folder, shipped)
    return tryLadder(bench, catalog, ladder.id, gpu)
  }
  let draft = first
  let tried = await attempt()
  const again = async (next: Draft): Promise<void> => {
    draft = next
    await write(folder, draft)
    tried = await attempt()
  }
  if (draft.origin.launcher && (tried.trouble !== null || sameLaunch(tried, chosen) === false))
    await again({ ...draft, origin: { ...draft.origin, launcher: null } })
  const stop = tried.observed?.stop
  const left = stop && ['illegal-address', 'trap', 'assert'].includes(stop.kind)
  if (left && draft.proposal.fixed === null)
    await again({
      ...draft,
      proposal: {
        ...draft.proposal,
        fixed: 'at smaller sizes it accessed memory outside its buffers',
      },
    })
  const proposal = await settleSizes(directed(draft.proposal, tried), async (proposed, sizes) => {
    await write(folder, { ...draft, proposal: proposed })
    const { catalog, ladder } = await readLadderFolder(folder, shipped)
    return tried.observed ? fitsAt(bench, catalog, ladder.id, gpu, sizes) : null
  })
  const types = launch.parameters.map(
    ({ kind }, index) =>
      chosen.signature.types?.[index] ?? chosen.source.parameters[index]?.type ?? kind.kind,
  )
  const names = launch.parameters.map(({ name }) => name)
  const withReference = (reference: OwnReference | null): Draft => ({
    proposal,
    origin: { ...draft.origin, reference: reference?.name ?? null },
    reference,
  })
  const reference = tried.observed ? ownReference(functions, types, names, proposal) : null
  const last = withReference(reference)
  await write(folder, last)
  if (reference === null) return { draft: last, tried, refused: null }
  const { catalog, ladder } = await readLadderFolder(folder, shipped)
  const fault = await referenceFault(bench, catalog, ladder.id, gpu)
  if (fault === null) return { draft: last, tried, refused: null }
  await rm(join(folder, 'reference.cu'))
  const trusting = withReference(null)
  await write(folder, trusting)
  return { draft: trusting, tried, refused: { name: reference.name, why: fault } }
}

export async function initFromFile(
  setup: Setup,
  folder: string,
  request: FromFileRequest,
  tell: (notice: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<FromFile> {
  const file = await realpath(resolve(request.file)).catch(() => resolve(request.file))
  const text = await sourceText(file)
  const stem = basename(file).replace(/\.\w+$/, '')
  const { path, id, shipped } = await newLadderFolder(setup, folder, stem)
  const { gpu } = emulatedGpu(null)
  const { toolbox, cache, folders } = setup.machine
  const bench = await Bench.open({ toolbox: toolbox(null), cache }, shipped, signal)
  const scratch = await bench.toolbox.scratch()
  const before = await pathExists(path)
  try {
    const learnt = await learn(bench, file, text, request, { gpu, scratch: scratch.path, tell })
    await makeFolder(path)
    const first = await writeFirst(path, id, learnt)
    await trustFolder(folders, path)
    const { draft, tried, refused } = await refine(bench, path, first, learnt, gpu, shipped)
    const { files } = await readLadderFolder(path, shipped)
    const { chosen, main } = learnt
    return {
      ...{ folder: path, files, main, tried, proposal: draft.proposal },
      kernel: draft.origin.call,
      launcher: draft.origin.launcher,
      reference: draft.origin.reference,
      refusedReference: refused,
      launches: chosen.launches,
      isSameLaunch: sameLaunch(tried, chosen),
      unset: (chosen.launch?.symbols ?? []).flatMap(({ name, data }) =>
        data === null ? [name] : [],
      ),
    }
  } catch (error) {
    // The folder was missing or empty before this call, so it can be removed.
    if (await pathExists(path))
      for (const name of await readdir(path))
        await rm(join(path, name), { recursive: true, force: true })
    if (!before) await rm(path, { recursive: true, force: true })
    throw error
  } finally {
    await scratch.remove()
  }
}
