/** The output of `show SESSION --rung R --json`. */
import { z } from 'zod'
import { documentKind } from './document'
import { RungResult } from '../../../domain/session/session'
import { Bottleneck } from '../../../domain/analysis/bottleneck'
import { RungMeasured } from '../../../domain/analysis/rung-measured'
import { DeepProfile } from '../../../domain/session/deep'
import { whyShape } from './why-fields'

export const showRungDocument = documentKind({
  name: 'show-rung',
  version: 3,
  title: 'show --rung',
  description:
    'What `kernel-ladder show SESSION --rung R --json` prints: one rung, its limit, its deep profile, and why it is faster or slower than the previous one.',
  fields: {
    /** Session folder, or null for a recording. */
    session: z.string().nullable(),
    rung: RungResult,
    /** The bottleneck, or null if the rung lacks the counters to determine it. */
    bottleneck: Bottleneck.nullable(),
    /** Deep profile. Null below the deep profile level. */
    deep: DeepProfile.nullable(),
    /**
     * The rung's recorded measurement. Null if no recording contains the rung, or if this session
     * is that recording.
     */
    measured: RungMeasured.nullable(),
    /** Rung that this rung is compared with. Null for the first rung and for the reference. */
    before: z.string().nullable(),
    ...whyShape,
  },
})
