/** Calls for finished sweeps over a rung's parameters. */
import { z } from 'zod'
import { Identifier } from '../domain/ladder/rung'
import { KeptTuning, ListedTuning, TuningId } from '../domain/tune/kept-tuning'

const OfTuning = z.object({ id: TuningId })

export const tuningCalls = {
  'tunings.list': { input: z.object({}), output: z.object({ tunings: z.array(ListedTuning) }) },
  'tunings.get': { input: OfTuning, output: KeptTuning },
  /** Adds the winner to the user's own ladder folder, as a variant after its rung. */
  'tunings.apply': {
    input: OfTuning,
    output: z.object({ variant: Identifier, folder: z.string() }),
  },
} as const
