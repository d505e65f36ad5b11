/** References to sessions: how a session is named in calls and on the command line. */
import { z } from 'zod'
import { can, parseTarget, printTarget } from '../targets/targets'

/** The name of the recording that a ref refers to; null for a session in the store. */
export const recordingOf = (ref: string): string | null => {
  const target = parseTarget(ref)
  return target && can(target).replays ? target.name : null
}

export const recordedRef = (name: string): string => printTarget({ kind: 'recorded', name })

const folderName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/

/** `recorded:<name>` for a shipped recording, like its target, else the folder name in the session store. */
export const SessionRef = z.string().refine((ref) => folderName.test(recordingOf(ref) ?? ref), {
  error: 'It is not the name of a session.',
})
