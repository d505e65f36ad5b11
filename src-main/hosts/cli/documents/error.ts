/** The output of a command with `--json` that fails before it prints its own document. */
import { ErrorShape } from '../../../domain/errors'
import { documentKind } from './document'

export const errorDocument = documentKind({
  name: 'error',
  version: 1,
  title: 'error',
  description:
    'Printed by any command with --json if it ends without a result: bad usage or input, or something missing on this machine. The sentence is also on stderr.',
  fields: { error: ErrorShape },
})
