/** The output of `next SESSION [RUNG] --json`. */
import { Next } from '../../../domain/next/next'
import { documentKind } from './document'

export const nextDocument = documentKind({
  name: 'next',
  version: 1,
  title: 'next',
  description:
    'What `kernel-ladder next SESSION [RUNG] --json` prints: what to change next in a rung, best first. docs/evidence/next.md explains it.',
  fields: Next.shape,
})
