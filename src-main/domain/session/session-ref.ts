/** References to sessions, as used in calls and on the command line. */
import { z } from 'zod'
import { can, parseTarget, printTarget } from '../targets/targets'

/** Returns the recording's name in a reference, or null for a session in the store. */
export const recordingOf = (ref: string): string | null => {
  const target = parseTarget(ref)
  return target && can(target).replays ? target.name : null
}

export const recordedRef = (name: string): string => printTarget({ kind: 'recorded', name })

const folderName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/

/**
 * A session reference: `recorded:<name>` for a built-in recording, otherwise the folder name in the
 * session store.
 */
export const SessionRef = z.string().refine((ref) => folderName.test(recordingOf(ref) ?? ref), {
  error: 'It is not the name of a session.',
})
