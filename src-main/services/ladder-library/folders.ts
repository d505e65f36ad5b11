/** Ladder folders for the UI: opens, lists, saves and builds them. */
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { errorCode, pathExists } from '../../adapters/disk/disk'
import {
  readFolderFile,
  saveFolderFile,
  headersBelow,
  ladderFileIn,
  ladderFileNames,
  readLadderFolder,
  rungFile,
  shownPath,
  type LadderFolder,
} from '../../adapters/kernels/ladder-folder'
import { readKernelLibrary, sentenceOf } from '../../adapters/kernels/kernel-library'
import type {
  RungCounters,
  BuiltSource,
  FolderBuild,
  FolderFault,
  FolderFile,
  FolderView,
  RecentFolder,
  SaveAnswer,
} from '../../contract/folders'
import { inputError } from '../../domain/errors'
import { message, says, together, type Statement } from '../../domain/messages/message'
import type { Ladder } from '../../domain/ladder/ladder'
import { rungFileId } from '../../domain/ladder/rung'
import type { Diagnostic } from '../../domain/session/session'
import { referenceFile } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/text'
import { buildRung } from '../bench/build-rung'
import { gpuLike, type createCounting } from '../run/counters'
import { planRun } from '../run/plan'
import type { ProgramFolder } from '../../adapters/kernels/program-folder'
import {
  openPrograms,
  forgetFolder,
  recentFolders,
  rememberFolder,
  isTrustedFolder,
  requireTrustedFolder,
  trustFolder,
} from './open'
import { resolveLadder } from '../catalog/resolve'
import { builtArchitecture, recordedArchitecture } from '../bench/architecture'
import { Bench } from '../bench/bench'
import type { BuildOutcome } from '../bench/compiler'
import { compileReference } from '../bench/reference'
import { inParallel } from '../bench/in-parallel'

/** Expands `~/kernels` like a shell. */
const expanded = ({ machine }: Setup, typed: string): string =>
  /^~(?=$|[\\/])/.test(typed) ? join(machine.folders.home, typed.slice(1)) : typed

/** The folder's real path, with links resolved once; it must contain a ladder file. */
async function locate(setup: Setup, typed: string): Promise<string> {
  const path = resolve(expanded(setup, typed.trim()))
  const real = await realpath(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')
      throw inputError(message('folders.none', { folder: path }), message('folders.giveFolder'))
    throw inputError(message('folders.cannotOpen', { folder: path, text: errorCode(error) ?? '?' }))
  })
  if ((await ladderFileIn(real)) === null)
    throw inputError(message('folders.noLadder', { folder: path }), message('folders.giveLadder'))
  return real
}

/** What an error says, fault by fault; advice belongs to the fault before it. */
function eachFault(faults: Statement): Statement[] {
  if (typeof faults === 'string') return faults.split('\n')
  if ('sentences' in faults)
    return faults.sentences.reduce<Statement[]>((found, sentence) => {
      const last = found.at(-1)
      return last === undefined ||
        says(sentence, 'written.fault') ||
        says(sentence, 'written.lines')
        ? [...found, ...eachFault(sentence)]
        : [...found.slice(0, -1), together(last, sentence)]
    }, [])
  if (!says(faults, 'written.lines')) return [faults]
  return [faults.values.first, faults.values.more].flatMap((part) => eachFault(part as Statement))
}

const location = /^(.+?\.(?:ya?ml|json|cu|cuh|h|hh|hpp|inl|py))(?::(\d+))?(?::(\d+))?$/

/** A fault's location and the fault itself; null if it begins with no location. */
function located(fault: Statement): { place: RegExpExecArray; fault: Statement } | null {
  if (typeof fault === 'object' && 'sentences' in fault) {
    const [first, ...more] = fault.sentences
    const found = first === undefined ? null : located(first)
    return found && { ...found, fault: together(found.fault, ...more) }
  }
  if (says(fault, 'written.fault')) {
    const { place: at, fault: own } = fault.values
    const place = typeof at === 'string' ? location.exec(at) : null
    return place && { place, fault: own as Statement }
  }
  const [, at = '', rest = ''] = /^(\S.*?): (.+)$/s.exec(inEnglish(fault)) ?? []
  const place = location.exec(at)
  return place && { place, fault: rest }
}

/** The faults that our parsers found, each with its location; file paths are relative to the folder. */
export function placedFaults(faults: Statement, folder: string): FolderFault[] {
  const shown = shownPath(folder)
  const own = (file: string): string =>
    [`${shown}/`, `${folder}/`].reduce(
      (name, prefix) => (name.startsWith(prefix) ? name.slice(prefix.length) : name),
      file.replaceAll('\\', '/'),
    )
  return eachFault(faults).map((one) => {
    const found = located(one)
    if (!found) return { file: null, line: null, column: null, message: one }
    const [, file = '', line, column] = found.place
    return {
      file: own(file),
      line: line === undefined ? null : Number(line),
      column: column === undefined ? null : Number(column),
      message: found.fault,
    }
  })
}

interface ReadFolder {
  own: LadderFolder | null
  /** A ladder of programs. */
  programs?: ProgramFolder
  ladder: Ladder | null
  faults: FolderFault[]
}

/** The usable part of the folder, and the faults of the rest. */
async function read(setup: Setup, path: string): Promise<ReadFolder> {
  try {
    const programs = await openPrograms(setup, path)
    if (programs) return { own: null, programs, ladder: programs.ladder, faults: [] }
    const own = await readLadderFolder(path, await readKernelLibrary(setup.assets.kernelsDir))
    const faults = [...own.library.faults.values()].flatMap((fault) => placedFaults(fault, path))
    if (faults.length > 0) return { own, ladder: null, faults }
    try {
      return { own, ladder: resolveLadder(own.library, own.ladder), faults }
    } catch (error) {
      return { own, ladder: null, faults: placedFaults(sentenceOf(error), path) }
    }
  } catch (error) {
    return { own: null, ladder: null, faults: placedFaults(sentenceOf(error), path) }
  }
}

/** Files to edit: those that the ladder names, whether or not they exist, and headers. */
async function editedFiles(
  path: string,
  { own, programs }: Pick<ReadFolder, 'own' | 'programs'>,
): Promise<FolderFile[]> {
  const found: FolderFile[] = []
  const add = async (name: string, kind: FolderFile['kind']): Promise<void> => {
    if (found.some((file) => file.name === name)) return
    const text = await readFolderFile(path, name).catch((error: unknown) => ({
      text: '',
      version: null,
      locked: inEnglish(sentenceOf(error)),
    }))
    found.push({ name, kind, ...(text ?? { text: '', version: null, locked: null }) })
  }
  await add((await ladderFileIn(path)) ?? ladderFileNames[0], 'ladder')
  for (const name of programs?.sources.keys() ?? []) await add(name, 'rung')
  if (!own) return found
  const reference = referenceFile(own.task)
  for (const { id } of own.ladder.rungs) {
    // Where a rung has two files, the ladder has a fault that names both.
    const name = await rungFile(path, id).catch(() => `${id}.cu`)
    if (name !== reference) await add(name, 'rung')
  }
  if (reference !== null) await add(reference, 'reference')
  for (const name of await headersBelow(path)) await add(name, 'header')
  return found
}

export async function openFolder(setup: Setup, typed: string): Promise<FolderView> {
  const { folders } = setup.machine
  const path = await locate(setup, typed)
  const { own, programs, ladder, faults } = await read(setup, path)
  await rememberFolder(folders, path)
  return {
    path,
    trusted: await isTrustedFolder(folders, path),
    ladder,
    faults,
    files: await editedFiles(path, { own, ...(programs ? { programs } : {}) }),
  }
}

export async function listFolders(setup: Setup): Promise<RecentFolder[]> {
  const { folders } = setup.machine
  return Promise.all(
    (await recentFolders(folders)).map(async ({ folder, openedAt }): Promise<RecentFolder> => {
      const base = { path: folder, openedAt }
      if ((await ladderFileIn(folder)) === null)
        return { ...base, state: 'gone', trusted: false, ladder: null }
      const { ladder } = await read(setup, folder)
      const trusted = await isTrustedFolder(folders, folder).catch(() => false)
      return { ...base, state: ladder ? 'ready' : 'faulty', trusted, ladder }
    }),
  )
}

/**
 * Where the folder of a session's ladder is now: where it was run, or where the user has opened it since. null if
 * there is no folder with that ladder.
 */
export async function folderOf(
  setup: Setup,
  { id, folder }: Pick<Ladder, 'id' | 'folder'>,
): Promise<string | null> {
  const opened = await recentFolders(setup.machine.folders)
  for (const path of [
    ...(folder === undefined ? [] : [folder]),
    ...opened.map((one) => one.folder),
  ]) {
    // A report has the name alone.
    if (!isAbsolute(path) || (await ladderFileIn(path)) === null) continue
    const { own, programs } = await read(setup, path)
    const found = own ?? programs
    // A ladder file that cannot be read is no other ladder: its faults are shown where it is edited.
    if (found ? found.ladder.id === id : path === folder) return realpath(path)
  }
  return null
}

export const forgetOpened = ({ machine }: Setup, path: string): Promise<void> =>
  forgetFolder(machine.folders, path)

/** A page can only use folders that the user has opened. */
async function requireOpened({ machine }: Setup, path: string): Promise<string> {
  if ((await recentFolders(machine.folders)).some(({ folder }) => folder === path)) return path
  throw inputError(message('folders.notOpen', { folder: path }), message('folders.openFirst'))
}

export async function trustOpened(setup: Setup, path: string): Promise<void> {
  await trustFolder(setup.machine.folders, await locate(setup, await requireOpened(setup, path)))
}

const mostCompletions = 50

/** Subfolders of the home directory; links are not followed, and hidden folders need the leading dot. */
export async function completeFolder(
  setup: Setup,
  typed: string,
): Promise<{ path: string; isLadder: boolean }[]> {
  const { home } = setup.machine.folders
  const path = expanded(setup, typed === '' ? '~/' : typed)
  const parent = resolve(/[\\/]$/.test(path) ? path : dirname(path))
  const begun = /[\\/]$/.test(path) ? '' : basename(path)
  const [root, above] = await Promise.all(
    [home, parent].map((one) => realpath(one).catch(() => null)),
  )
  if (!root || !above || (above !== root && !above.startsWith(root + sep))) return []
  const names = (await readdir(above, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory() && entry.name.startsWith(begun))
    .filter(({ name }) => begun.startsWith('.') || !name.startsWith('.'))
    .map(({ name }) => join(parent, name))
    .sort()
    .slice(0, mostCompletions)
  return Promise.all(
    names.map(async (name) => ({ path: name, isLadder: (await ladderFileIn(name)) !== null })),
  )
}

export async function saveFile(
  setup: Setup,
  {
    path,
    file,
    text,
    version,
  }: { path: string; file: string; text: string; version: string | null },
): Promise<SaveAnswer> {
  await requireOpened(setup, path)
  if (!(await pathExists(path)))
    throw inputError(message('folders.gone', { folder: path }), message('folders.bringBack'))
  const answer = await saveFolderFile(path, file, text, version)
  return answer.saved
    ? { state: 'saved', version: answer.version }
    : { state: 'changed', version: answer.now?.version ?? null, text: answer.now?.text ?? null }
}

/** Build paths are relative to the library, where the folder is named after its task. */
const inFolder = (task: string, diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.map(({ file, ...rest }) => ({
    ...rest,
    file: file?.startsWith(`${task}/`) ? file.slice(task.length + 1) : file,
  }))

const builtSource = (
  task: string,
  file: string,
  rung: string | null,
  { artefact, build, diagnostics, reason }: BuildOutcome,
): BuiltSource => ({
  file,
  rung,
  built: artefact !== null,
  reason: reason ?? null,
  diagnostics: inFolder(task, diagnostics),
  build,
})

export async function buildFolder(
  setup: Setup,
  { path, file }: { path: string; file: string },
): Promise<FolderBuild> {
  const { assets, machine } = setup
  await requireOpened(setup, path)
  const { library, ladder, task } = await readLadderFolder(
    path,
    await readKernelLibrary(assets.kernelsDir),
  )
  await requireTrustedFolder(machine.folders, { folder: path })
  const broken = library.faults.get(rungFileId(file) ?? file)
  if (broken !== undefined) {
    const [fault] = placedFaults(broken, path)
    const { line, message: reason } = fault!
    const diagnostics: Diagnostic[] = [
      { severity: 'error', file, line, message: inEnglish(reason) },
    ]
    const none = { artefact: null, build: null, diagnostics, reason }
    return {
      architecture: `sm_${recordedArchitecture}`,
      ownGpu: false,
      sources: [builtSource(task.id, file, rungFileId(file) ?? file, none)],
    }
  }
  const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
  const bench = await Bench.open(tools, library)
  const compiler = await bench.compiler()
  const own = await bench.ownArchitecture()
  const usable = ladder.rungs.filter(({ id }) => !library.faults.has(id))
  const asked = usable.filter(({ id }) => rungFileId(file) === id && referenceFile(task) !== file)
  const reference = library.references.get(task.id)
  const ofReference = reference !== undefined && referenceFile(task) === file
  // For a header or the ladder file itself, everything may have changed.
  const entries = asked.length > 0 || ofReference ? asked : usable
  const sources: BuiltSource[] = []
  if (reference && (ofReference || asked.length === 0)) {
    const inputs = { task, headers: library.headers.get(task.id) ?? new Map<string, string>() }
    const sm = builtArchitecture(null, own)
    const outcome = await compileReference(compiler, inputs, reference, sm)
    sources.push(builtSource(task.id, referenceFile(task)!, null, outcome))
  }
  if (entries.length > 0) {
    const plan = planRun(library, {
      ladder: ladder.id,
      rungs: entries.map(({ as, id }) => as ?? id),
      params: {},
      profile: 'none',
    })
    const built = new Map<string, BuiltSource>()
    await inParallel(plan.rungs, async (planned) => {
      const { id, file: source, header } = planned.rung
      const outcome = await buildRung(
        compiler,
        plan,
        planned,
        builtArchitecture(header.requires, own),
      )
      built.set(id, builtSource(task.id, source.slice(task.id.length + 1), id, outcome))
    })
    sources.push(...plan.rungs.map(({ rung }) => built.get(rung.id)!))
  }
  return {
    architecture: `sm_${builtArchitecture(null, own)}`,
    ownGpu: own !== null,
    sources,
  }
}

/** What a rung counts as it is typed; `text` stands in place of its file. */
export async function countersIn(
  setup: Setup,
  count: ReturnType<ReturnType<typeof createCounting>>,
  { path, file, text }: { path: string; file: string; text: string },
): Promise<RungCounters> {
  await requireOpened(setup, path)
  const { library, ladder } = await readLadderFolder(
    path,
    await readKernelLibrary(setup.assets.kernelsDir),
  )
  await requireTrustedFolder(setup.machine.folders, { folder: path })
  const id = rungFileId(file)
  const entry = ladder.rungs.find((one) => one.id === id && !library.faults.has(one.id))
  if (!entry) throw inputError(message('folders.notCounted', { file }))
  const original = planRun(library, {
    ladder: ladder.id,
    rungs: [entry.as ?? entry.id],
    params: {},
    profile: 'none',
  })
  const plan = {
    ...original,
    rungs: original.rungs.map((planned) => ({ ...planned, source: text })),
  }
  const counters = await count({ library, gpu: gpuLike(null), plan, original })
  return { ...counters, diagnostics: inFolder(plan.task.id, counters.diagnostics) }
}
