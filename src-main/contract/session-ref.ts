import { z } from 'zod'
import { parseTarget, printTarget } from '../domain/target/targets'

/** `recorded:<name>` for what ships with the program, as a target is written, else the folder name in the session store. */
export const SessionRef = z.string().regex(/^(recorded:)?[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/)

export const recordedRef = (name: string): string => printTarget({ kind: 'recorded', name })

/** The name of the recording that a ref stands for; null for a session of the store. */
export const recordingOf = (ref: string): string | null => {
  const target = parseTarget(ref)
  return target?.kind === 'recorded' ? target.name : null
}
