/** The JSON Schema of ladder.yaml, for completion and validation in editors. */
import { z } from 'zod'
import { LadderDocument } from './ladder-document'
import { ProgramLadderDocument } from './program-ladder'

/** A ladder of kernels, or one of programs. */
export const AnyLadderDocument = z.union([LadderDocument, ProgramLadderDocument])

/** The schema file that `init` puts next to a new ladder.yaml. */
export const ladderSchemaFile = 'ladder.schema.json'

export const ladderSchema = (): object => ({
  title: 'Kernel Ladder ladder folder, version 1',
  description:
    'ladder.yaml or ladder.json of a ladder folder. docs/LADDERS.md explains the keys; `kernel-ladder ladders DIR` also checks expressions, names and files.',
  // The input side: fields with a default may be left out.
  ...z.toJSONSchema(AnyLadderDocument, { io: 'input' }),
})
