/** Ladder folders in a UI: what the calls folders.* answer. */
import { resolve } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { sha256 } from '../../adapters/disk/build-cache'
import { readKernelLibrary, readSharedFiles } from '../../adapters/kernels/kernel-library'
import {
  ladderFileIn,
  ladderFileNames,
  readFolderText,
  readLadderFolder,
  shownPath,
  textFiles,
  writeFolderText,
  type LadderFolder,
} from '../../adapters/kernels/ladder-folder'
import { withRungText } from '../../adapters/kernels/draft-source'
import type { CallInput, CallOutput } from '../../contract'
import type { FolderFault, FolderFile, FolderView } from '../../contract/folders'
import { inputError, toErrorShape } from '../../domain/errors'
import type { Ladder } from '../../domain/ladder/ladder'
import { referenceFile } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/wording'
import { buildRung, compileReference, type BuildOutcome, type TaskInputs } from '../run/build'
import { openCompiler, type Compiler } from '../run/compiler'
import { architectureFor } from '../run/device'
import { ownArchitecture } from '../run/own-architecture'
import { planRun, resolveLadder } from '../run/plan'
import { initLadder, templateNames } from './init'
import { forgetFolder, recentFolders, rememberFolder } from './recent'
import { isTrustedFolder, requireTrustedFolder, trustFolder } from './trust'

/** `lab/ladder.yaml:3:5: It …`, or without a column or a line. */
function placed(sentence: string, folder: string): FolderFault {
  const prefix = `${shownPath(folder)}/`
  const own = sentence.startsWith(prefix) ? sentence.slice(prefix.length) : sentence
  const [, file, line, column, message] = /^([^\s:]+):(?:(\d+):)?(?:(\d+):)? (.+)$/s.exec(own) ?? []
  return {
    file: own === sentence ? null : (file ?? null),
    line: line === undefined ? null : Number(line),
    column: column === undefined ? null : Number(column),
    message: message ?? own,
  }
}

/** Each line of a refusal is a fault at its place. */
const faultsOf = (error: unknown, folder: string): FolderFault[] => {
  const { message, remedy } = toErrorShape(error)
  const lines = inEnglish(remedy ?? '').split('\n')
  const isPlaced = (line: string): boolean => /^\S+:\d+:/.test(line)
  const said = [inEnglish(message), ...lines.filter(isPlaced)]
  return said.map((sentence) => placed(sentence, folder))
}

/** The ladder with the rungs that can be used. */
function usable({ library, ladder }: LadderFolder): Ladder {
  const rungs = ladder.rungs.filter(({ id }) => library.rungs.has(id))
  return resolveLadder(library, { ...ladder, rungs })
}

function filesOf(paths: readonly string[], own: LadderFolder | null): FolderFile[] {
  const reference = own && referenceFile(own.task)
  const rungs = new Set(own?.ladder.rungs.map(({ id }) => id))
  return paths.map((path) => {
    const id = path.replace(/\.cu$/, '')
    const isLadder = ladderFileNames.some((name) => name === path)
    return {
      path,
      kind: isLadder
        ? 'ladder'
        : path === reference
          ? 'reference'
          : path.endsWith('.cu')
            ? 'rung'
            : 'header',
      rung: rungs.has(id) && path.endsWith('.cu') ? id : null,
    }
  })
}

async function hashOf(folder: string, paths: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    paths.map((path) => readFolderText(folder, path).catch(() => null)),
  )
  return sha256(JSON.stringify(paths.map((path, index) => [path, texts[index]])))
}

async function viewOf({ assets, machine }: Setup, folder: string): Promise<FolderView> {
  const shipped = await readKernelLibrary(assets.kernelsDir)
  const paths = await textFiles(folder)
  let own: LadderFolder | null = null
  let ladder: Ladder | null = null
  const faults: FolderFault[] = []
  try {
    own = await readLadderFolder(folder, shipped)
    faults.push(...[...own.library.faults.values()].map((fault) => placed(fault, folder)))
    ladder = usable(own)
  } catch (error) {
    faults.push(...faultsOf(error, folder))
  }
  return {
    folder,
    trusted: await isTrustedFolder(machine.folders, folder),
    contentHash: await hashOf(folder, paths),
    ladder,
    faults,
    files: filesOf(paths, own),
  }
}

async function requireLadder(folder: string): Promise<string> {
  const path = resolve(folder)
  if ((await ladderFileIn(path)) !== null) return path
  throw inputError(
    `${shownPath(path)} holds no ladder.yaml.`,
    'Open a folder that does, or make one from a template.',
  )
}

const refused = (message: string, file: string, line: number | null) => ({
  built: false,
  reason: message,
  diagnostics: [{ severity: 'error' as const, file, line, message }],
  build: null,
  architecture: null,
})

/** The compiler knows a file as one of its task. */
const named = (path: string | null, task: string): string | null =>
  path?.startsWith(`${task}/`) ? path.slice(task.length + 1) : path

const answerOf = (
  { artefact, reason, diagnostics, build }: BuildOutcome,
  task: string,
  sm: string,
): CallOutput<'folders.build'> => ({
  built: artefact !== null,
  reason: reason ?? null,
  diagnostics: diagnostics.map((one) => ({ ...one, file: named(one.file, task) })),
  build,
  architecture: `sm_${sm}`,
})

/** What a folder is compiled for on a machine without a GPU. */
const usualArchitecture = '90'

/** The handlers of folders.*. */
export function createFolderCalls(setup: Setup) {
  const { assets, machine } = setup
  const { folders } = machine

  const open = async (path: string): Promise<FolderView> => {
    const folder = await requireLadder(path)
    const view = await viewOf(setup, folder)
    const { ladder } = view
    await rememberFolder(folders, {
      folder,
      id: ladder?.id ?? null,
      title: ladder?.title ?? null,
    })
    return view
  }

  const compilerOf = async (own: LadderFolder): Promise<{ compiler: Compiler; sm: string }> => {
    const { root } = own.library
    const compiler = await openCompiler(
      { toolbox: machine.toolbox(null), cache: machine.cache },
      await readSharedFiles(root, 'include'),
    )
    const sm = await ownArchitecture(compiler, await readSharedFiles(root, 'runner'))
    return { compiler, sm: sm ?? usualArchitecture }
  }

  const build = async ({
    folder,
    file,
    text,
  }: CallInput<'folders.build'>): Promise<CallOutput<'folders.build'>> => {
    const path = await requireLadder(folder)
    const own = await readLadderFolder(path, await readKernelLibrary(assets.kernelsDir))
    await requireTrustedFolder(folders, own)
    const { task, ladder } = own
    const reference = own.library.references.get(task.id)
    if (file === referenceFile(task) && reference) {
      const { compiler, sm } = await compilerOf(own)
      const inputs: TaskInputs = { task, headers: own.library.headers.get(task.id) ?? new Map() }
      const source = { ...reference, text: text ?? reference.text }
      return answerOf(await compileReference(compiler, inputs, source, sm), task.id, sm)
    }
    const entry = ladder.rungs.find(({ id }) => `${id}.cu` === file)
    if (!entry) throw inputError(`${file} is no rung of the ladder, and not its reference.`)
    let plan
    try {
      const source = text ?? (await readFolderText(path, file))
      plan = planRun(withRungText(own.library, task, entry.id, source), {
        ladder: ladder.id,
        rungs: [entry.as ?? entry.id],
        params: {},
        profile: 'none',
      })
    } catch (error) {
      const { line, message } = placed(inEnglish(toErrorShape(error).message), path)
      return refused(message, file, line)
    }
    const planned = plan.rungs[0]!
    const { compiler, sm } = await compilerOf(own)
    const computeCapability = sm.replace(/^(\d+)(\d)$/, '$1.$2')
    const fits = architectureFor(planned.rung.header.requires, {
      name: `sm_${sm}`,
      computeCapability,
    })
    // A GPU that is too old for the code can still be told what the compiler thinks of it.
    const wanted = 'sm' in fits ? fits.sm : planned.rung.header.requires!.replace('sm_', '')
    return answerOf(await buildRung(compiler, plan, planned, wanted), task.id, wanted)
  }

  return {
    'folders.recent': () => recentFolders(folders),
    'folders.open': ({ folder }: CallInput<'folders.open'>) => open(folder),
    'folders.forget': async ({ folder }: CallInput<'folders.forget'>) => {
      await forgetFolder(folders, folder)
      return {}
    },
    'folders.templates': () => templateNames(setup),
    'folders.init': async ({ folder, template }: CallInput<'folders.init'>) => {
      await initLadder(setup, folder, template)
      return open(folder)
    },
    'folders.trust': async ({ folder, contentHash }: CallInput<'folders.trust'>) => {
      const path = await requireLadder(folder)
      if ((await viewOf(setup, path)).contentHash !== contentHash)
        throw inputError('A file of the ladder has changed meanwhile.', 'Look at it again.')
      await trustFolder(folders, path)
      return {}
    },
    'folders.read': async ({ folder, file }: CallInput<'folders.read'>) => {
      const text = await readFolderText(await requireLadder(folder), file)
      return { text, hash: sha256(text) }
    },
    'folders.save': async ({
      folder,
      file,
      text,
      hash,
    }: CallInput<'folders.save'>): Promise<CallOutput<'folders.save'>> => {
      const path = await requireLadder(folder)
      const isThere = (await textFiles(path)).includes(file)
      const disk = isThere ? await readFolderText(path, file) : null
      if (disk !== null && sha256(disk) !== hash)
        return { saved: false, disk: { text: disk, hash: sha256(disk) } }
      await writeFolderText(path, file, text)
      return { saved: true, hash: sha256(text) }
    },
    'folders.build': build,
  }
}
