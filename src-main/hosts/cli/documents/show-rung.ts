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
    /** The session's folder, or null for a recording. */
    session: z.string().nullable(),
    rung: RungResult,
    /** The bottleneck, or null if the rung has no counters to determine one. */
    bottleneck: Bottleneck.nullable(),
    /** The deep profile, or null below the deep profiling level. */
    deep: DeepProfile.nullable(),
    /**
     * The recorded measurement of the rung. Null if no recording contains the rung, or if this
     * session is that recording.
     */
    measured: RungMeasured.nullable(),
    /** The rung to compare with. Null for the first rung and for the reference. */
    before: z.string().nullable(),
    ...whyShape,
  },
})
