/** Finds the sessions that belong to attempts at a lab. */
import { join } from 'node:path'
import type { Setup, Folders } from '../../adapters/machine/machine'
import { pathExists } from '../../adapters/disk/disk'
import type { LabOutcome } from '../../domain/labs/outcome'
import { sessionFolder } from '../../adapters/labs/attempt'
import { can } from '../../domain/targets/targets'
import { recordedRef, recordingOf } from '../../domain/session/session-ref'
import { recordedLabs } from '../../adapters/labs/recorded-attempts'
import { attemptsDir } from '../../adapters/labs/progress'

/** Prefix of a shipped outcome's ref. The rest of the ref is a recording's name. */
const recordedMark = 'lab.'

/** Returns an attempt's session as a SessionRef, or null if nothing was measured. */
export async function attemptSession(
  folders: Folders,
  key: string,
  id: string,
  { target }: LabOutcome,
): Promise<string | null> {
  if (can(target).replays)
    return target.name === 'none' ? null : recordedRef(recordedMark + target.name)
  return (await pathExists(sessionFolder(join(attemptsDir(folders, key), id))))
    ? `lab.${key.replace(':', '-')}.${id}`
    : null
}

/** Returns the folder for a ref from `attemptSession`, or null for any other ref. */
export function labSessionFolder(
  { assets, machine: { folders } }: Setup,
  ref: string,
): string | null {
  const recording = recordingOf(ref)
  if (recording?.startsWith(recordedMark))
    return join(recordedLabs(assets.recordingsDir), recording.slice(recordedMark.length))
  const [, key, id] = /^lab\.(.+)\.(\d{8}-\d{6}-[0-9a-f]{4}(?:-\d+)?)$/.exec(ref) ?? []
  return key === undefined || id === undefined
    ? null
    : sessionFolder(join(attemptsDir(folders, key), id))
}
