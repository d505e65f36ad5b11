import { z } from 'zod'

/** `recorded:<name>` for what ships with the program, else the folder name in the session store. */
export const SessionRef = z.string().regex(/^(recorded:)?[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/)
