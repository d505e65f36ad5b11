/** The shipped lab outcomes, and the code that each belongs to. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Assets } from '../../adapters/kernels/assets'
import { sha256 } from '../../adapters/disk/build-cache'
import { readAttempt } from '../../adapters/labs/attempt'
import type { LabFolder } from '../../adapters/labs/library'
import { recordable, type LabCode, type RecordedOutcome } from '../../contract/labs'

/** Different line ends do not make a different solution. */
export const sourceHash = (text: string): string => sha256(text.replaceAll('\r\n', '\n'))

/** Which of the lab's current files has this hash. */
export const codeOf = (lab: LabFolder, hash: string): LabCode =>
  recordable.find((which) => sourceHash(lab[which]) === hash) ?? 'own'

/** The folder of a shipped outcome; null if there is none. */
export async function recordedAttempt(
  assets: Assets,
  lab: string,
  which: RecordedOutcome['which'],
): Promise<{ name: string; folder: string } | null> {
  const root = join(assets.recordingsDir, 'labs')
  const names = (await readdir(root).catch(() => [] as string[])).sort()
  const name = names.find((candidate) => candidate.startsWith(`${lab}-${which}-`))
  return name === undefined ? null : { name, folder: join(root, name) }
}

/** What `--target recorded` can replay for the lab in its current form. */
export async function recordedOutcomes(assets: Assets, lab: LabFolder): Promise<RecordedOutcome[]> {
  const found = await Promise.all(
    recordable.map(async (which): Promise<RecordedOutcome[]> => {
      const recorded = await recordedAttempt(assets, lab.id, which)
      const kept = recorded && (await readAttempt(recorded.folder).catch(() => null))
      return kept?.outcome.device && kept.outcome.sourceHash === sourceHash(lab[which])
        ? [{ which, gpu: kept.outcome.device.name }]
        : []
    }),
  )
  return found.flat()
}
