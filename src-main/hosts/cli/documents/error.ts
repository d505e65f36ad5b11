/** What a command prints with `--json` when it fails before it has a document of its own. */
import { ErrorShape } from '../../../domain/errors'
import { documentKind } from './document'

export const errorDocument = documentKind({
  name: 'error',
  version: 1,
  title: 'error',
  description:
    'What any command prints with --json when it ends without a result: bad usage or input, or something that this machine lacks. The sentence is on stderr too.',
  fields: { error: ErrorShape },
})
