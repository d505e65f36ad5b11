/** The JSON Schema of ladder.yaml, which editors complete and check it with. */
import { z } from 'zod'
import { LadderDocument } from './ladder-document'

/** Beside a ladder.yaml that `init` makes. */
export const ladderSchemaFile = 'ladder.schema.json'

export const ladderSchema = (): object => ({
  title: 'Kernel Ladder ladder folder, version 1',
  description:
    'ladder.yaml or ladder.json of a ladder folder. docs/LADDERS.md explains the keys; `kernel-ladder ladders DIR` also checks expressions, names and files.',
  // What a reader accepts: fields with a default may be left out.
  ...z.toJSONSchema(LadderDocument, { io: 'input' }),
})
