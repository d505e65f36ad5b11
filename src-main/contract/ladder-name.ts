import { z } from 'zod'

/** A ladder as named in a request: the id of a shipped one, or the path of a ladder folder. */
export const LadderName = z.string().min(1).max(4096)
