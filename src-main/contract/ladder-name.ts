import { z } from 'zod'

/** A ladder as a request names it: the id of one that ships, or the path of a ladder folder. */
export const LadderName = z.string().min(1).max(4096)
