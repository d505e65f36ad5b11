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
    'What `kernel-ladder show SESSION --rung R --json` prints: one rung, what limits it, its deep profile, and why it is faster or slower than the one before.',
  fields: {
    /** The session's folder; null for a recording. */
    session: z.string().nullable(),
    rung: RungResult,
    /** null if the rung has no counters to judge by. */
    bottleneck: Bottleneck.nullable(),
    /** null below the deep level. */
    deep: DeepProfile.nullable(),
    /** The recorded measurement of the rung; null if no recording contains it, or this session is that recording. */
    measured: RungMeasured.nullable(),
    /** The rung that it is compared with; null for the first one and for the reference. */
    before: z.string().nullable(),
    ...whyShape,
  },
})
