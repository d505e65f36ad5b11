/** Finds a lab's shipped outcomes and the source file behind each outcome. */
import type { Assets } from '../../adapters/catalog/assets'
import { sha256 } from '../../adapters/disk/build-cache'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import { recordable, type LabCode, type RecordedOutcome } from '../../contract/labs'
import {
  listRecordedAttempts,
  recordedOutcomeOf,
  type RecordedAttempt,
} from '../../adapters/labs/recorded-attempts'

/** Returns a hash that ignores differences between line endings. */
export const sourceHash = (text: string): string => sha256(text.replaceAll('\r\n', '\n'))

/** Returns the lab file that has this hash, or `own` if no current lab file matches. */
export const codeOf = (lab: LabFolder, hash: string): LabCode =>
  recordable.find((which) => sourceHash(lab[which]) === hash) ?? 'own'

/** Returns the shipped attempt for one of the lab's files, or null if there is none. */
export async function recordedAttempt(
  assets: Assets,
  lab: string,
  which: RecordedOutcome['which'],
): Promise<RecordedAttempt | null> {
  const attempts = await listRecordedAttempts(assets.recordingsDir)
  return attempts.find(({ name }) => name.startsWith(`${lab}-${which}-`)) ?? null
}

/** Returns the outcomes that `--target recorded` can replay for the lab's current version. */
export async function recordedOutcomes(assets: Assets, lab: LabFolder): Promise<RecordedOutcome[]> {
  const found = await Promise.all(
    recordable.map(async (which): Promise<RecordedOutcome[]> => {
      // Omit damaged outcomes from the list. A check that uses a damaged outcome reports the
      // damage.
      const outcome = await recordedAttempt(assets, lab.id, which)
        .then((recorded) => recorded && recordedOutcomeOf(recorded).outcome)
        .catch(() => null)
      return outcome?.device && outcome.sourceHash === sourceHash(lab[which])
        ? [{ which, gpu: outcome.device.name }]
        : []
    }),
  )
  return found.flat()
}
