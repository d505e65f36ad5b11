/** Adds a sweep's winner to a ladder folder. The winner becomes a variant after the tuned rung. */
import { addVariant, allowValues, type LadderFolder } from '../../adapters/catalog/ladder-folder'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { TuneReport } from '../../domain/tune/report'
import type { PlannedRung } from '../../domain/run/plan'
import { pointKey } from '../../domain/tune/search-space'
import { readFolderFile, saveFolderFile } from '../../adapters/catalog/folder-file'

/**
 * Returns the user's ladder folder. Throws an error for a shipped ladder, because shipped ladders
 * are read-only. Called before the sweep.
 */
export function requireOwnFolder(own: LadderFolder | null, ladder: string): LadderFolder {
  if (own) return own
  throw inputError(message('tunings.ownFolder', { ladder }), message('tunings.runWithout'))
}

/** Returns an unused id such as `05_tile-tuned`, followed by a number if that id is taken. */
function freeId(own: LadderFolder, rung: string): string {
  const taken = new Set(own.ladder.rungs.map(({ id, as }) => as ?? id))
  for (let number = 1; ; number += 1) {
    const id = `${rung.slice(0, 70)}-tuned${number === 1 ? '' : number}`
    if (!taken.has(id)) return id
  }
}

async function edit(folder: string, name: string, change: (text: string) => string) {
  const file = await readFolderFile(folder, name)
  if (!file) throw inputError(message('tunings.gone', { file: name }))
  const saved = await saveFolderFile(folder, name, change(file.text), file.version)
  if (!saved.saved)
    throw inputError(message('tunings.changed', { file: name }), message('tunings.applyAgain'))
}

/**
 * Adds the variant and returns its id. If the rung does not declare a parameter, throws an error
 * and writes nothing.
 */
export async function applyWinner(
  own: LadderFolder,
  { rung }: PlannedRung,
  { winner, finalists, gpus, rung: rungId }: TuneReport,
): Promise<string> {
  if (!winner) throw inputError(message('tunings.nothingToApply'))
  const declared = new Map(rung.header.params.map((param) => [param.name, param]))
  const undeclared = Object.keys(winner).filter((name) => !declared.has(name))
  if (undeclared.length > 0)
    throw inputError(
      message('tunings.undeclared', {
        file: `${rung.header.id}.cu`,
        names: undeclared.join(', '),
      }),
      message('tunings.declare', {
        line: `// @param ${undeclared[0]} ${winner[undeclared[0]!]} {${winner[undeclared[0]!]}}`,
      }),
    )
  const [ladderFile] = own.files
  const id = freeId(own, rungId)
  const params = Object.fromEntries(
    Object.entries(winner).filter(([name, value]) => declared.get(name)!.default !== value),
  )
  const further = Object.entries(winner).filter(
    ([name, value]) => !declared.get(name)!.allowed.includes(value),
  )
  if (further.length > 0)
    await edit(own.folder, `${rung.header.id}.cu`, (text) =>
      allowValues(text, Object.fromEntries(further)),
    )
  const gain = finalists.find((one) => pointKey(one.params) === pointKey(winner))?.ratio
  await edit(own.folder, ladderFile!, (text) =>
    addVariant(text, rungId, {
      id: rung.header.id,
      as: id,
      title: `${rung.title}, tuned`,
      params,
      ...(rung.options ? { options: rung.options } : {}),
      note: `Tuned on ${gpus[0]?.name ?? 'a GPU'}${gain ? `: ${(1 / gain.ratio).toFixed(2)} times as fast as ${rungId} there` : ''}.`,
    }),
  )
  return id
}
