/** What `show SESSION --rung R --json` prints. */
import { z } from 'zod'
import { Bottleneck } from '../../../domain/analysis/bottleneck'
import { RungMeasured } from '../../../domain/analysis/rung-measured'
import { DeepProfile } from '../../../domain/session/deep'
import { RungResult } from '../../../domain/session/session'
import { documentKind } from './document'

export const showRungDocument = documentKind({
  name: 'show-rung',
  version: 3,
  title: 'show --rung',
  description:
    'What `kernel-ladder show SESSION --rung R --json` prints: one rung, what limits it, and what the deep level knows of it.',
  fields: {
    /** The session's folder; null of a recording. */
    session: z.string().nullable(),
    rung: RungResult,
    /** null where the rung has no counter to judge by. */
    bottleneck: Bottleneck.nullable(),
    /** null below the deep level. */
    deep: DeepProfile.nullable(),
    /** What a recording measured of the rung; null where none holds it, or this session is the one. */
    measured: RungMeasured.nullable(),
  },
})
