/** Proposes a ladder folder from a user's .cu file (`init DIR --from FILE.cu`). */
import { readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { readLadderFolder, shownPath } from '../../../adapters/catalog/ladder-folder'
import { makeFolder, pathExists } from '../../../adapters/disk/disk'
import type { Setup } from '../../../adapters/machine/machine'
import type { RecordedMain } from '../../../adapters/sandbox/record-main'
import { inputError } from '../../../domain/errors'
import type { Proposal } from '../../../domain/proposal/proposal'
import type { Origin } from '../../../domain/proposal/write'
import { Bench } from '../../bench/bench'
import { emulatedGpu } from '../../run/emulated-gpu'
import { trustFolder } from '../folder-trust'
import { newLadderFolder } from '../init'
import { refine, sameLaunch, writeFirst, type RefusedReference } from './draft'
import { learn, type FromFileRequest } from './learn-file'
import type { Tried } from './try-ladder'

export interface FromFile {
  folder: string
  files: string[]
  kernel: string
  proposal: Proposal
  launcher: Origin['launcher']
  reference: string | null
  refusedReference: RefusedReference | null
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
