/**
 * A ladder folder whose rungs are programs. Each rung is a command. Kernel Ladder checks the
 * command's exit code and output. The ladder has no task, because only the output of each program
 * is known.
 */
import { z } from 'zod'
import { message, type AnyMessage } from '../messages/message'
import { filedFloats } from '../task/dtype'
import type { Ladder } from './ladder'
import { Identifier } from './rung'

/** A path relative to the ladder folder, regardless of the program's working directory. */
const FileInside = z
  .string()
  .min(1)
  .max(300)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\\0][^\\\0]*$/, {
    message: 'A file is named from its folder on, without "..".',
  })

const Command = z
  .array(
    z.string().refine((word) => !word.includes('\0'), {
      message: 'A word of a command has no null character.',
    }),
  )
  .min(1)
  .refine((words) => words[0] !== '', { message: 'The first word names the program.' })

export const ProgramOutput = z.strictObject({
  file: FileInside.describe('The file in this folder that each program writes anew.'),
  expected: FileInside.optional().describe(
    'What it must contain; by default, what the first rung writes.',
  ),
  dtype: z
    .enum(filedFloats)
    .optional()
    .describe('Compare as numbers of this type; by default every byte must be equal.'),
  rtol: z.number().nonnegative().optional().describe('Allowed error relative to the value.'),
  atol: z.number().nonnegative().optional().describe('Allowed error in addition to it.'),
})
export type ProgramOutput = z.infer<typeof ProgramOutput>

export const ProgramSettings = z.strictObject({
  runs: z.number().int().min(1).max(1000).default(7).describe('Timed runs of each program.'),
  timeout: z.number().positive().max(86_400).default(600).describe('Seconds a run may take.'),
  exit_code: z.number().int().min(0).max(255).default(0).describe('How each must end.'),
  output: ProgramOutput.optional(),
})
export type ProgramSettings = z.infer<typeof ProgramSettings>

const ProgramEntry = z.strictObject({
  id: Identifier,
  title: z.string().min(1),
  idea: z.string().min(1).optional().describe('What changes and why it should pay off.'),
  after: Identifier.optional().describe('The rung it is compared with; by default the one before.'),
  program: Command.describe('The program and its arguments, passed on exactly; no shell.'),
  negative: z.boolean().optional(),
  note: z.string().optional(),
})
type ProgramEntry = z.infer<typeof ProgramEntry>

export const ProgramLadderDocument = z.strictObject({
  $schema: z.string().optional(),
  kernel_ladder: z.literal(1).describe('The version of this format.'),
  id: Identifier.describe(
    'Sessions are named after it; it must not be the id of a shipped ladder.',
  ),
  title: z.string().min(1),
  summary: z.string().min(1).describe('A sentence about the ladder.'),
  programs: ProgramSettings.describe('How every program is run and checked, in place of a task.'),
  reference_rung: Identifier.nullable()
    .optional()
    .describe('The rung that ratios are relative to.'),
  rungs: z.array(ProgramEntry).min(1).describe('In order; each is a command run in this folder.'),
})
export type ProgramLadderDocument = z.infer<typeof ProgramLadderDocument>

interface ProgramFault {
  path: readonly (string | number)[]
  message: AnyMessage
}

/**
 * Returns a program ladder's errors in file order, such as unknown names and tolerances that have
 * no type.
 */
export function programFaults({
  programs: { output },
  reference_rung: reference,
  rungs,
}: ProgramLadderDocument): ProgramFault[] {
  const faults: ProgramFault[] = []
  const ids = rungs.map(({ id }) => id)
  const rungsAre = [...new Set(ids)].join(', ')
  for (const key of ['rtol', 'atol'] as const)
    if (output?.[key] !== undefined && output.dtype === undefined)
      faults.push({
        path: ['programs', 'output', key],
        message: message('task.needsType', { key }),
      })
  if (output?.expected !== undefined && output.expected === output.file)
    faults.push({
      path: ['programs', 'output', 'expected'],
      message: message('task.ownOutput'),
    })
  if (reference && !ids.includes(reference))
    faults.push({
      path: ['reference_rung'],
      message: message('task.noRung', { rung: reference, rungs: rungsAre }),
    })
  for (const [index, { id, after }] of rungs.entries()) {
    if (ids.indexOf(id) < index)
      faults.push({ path: ['rungs', index, 'id'], message: message('task.repeated', { name: id }) })
    if (after !== undefined && !ids.includes(after))
      faults.push({
        path: ['rungs', index, 'after'],
        message: message('task.afterNone', { rung: after, rungs: rungsAre }),
      })
  }
  return faults
}

/**
 * Returns the ladder in the form that sessions store. `files` maps rung ids to source paths,
 * relative to the ladder's sources.
 */
export function programLadder(
  { id, title, summary, reference_rung: reference, rungs }: ProgramLadderDocument,
  folder: string,
  files: ReadonlyMap<string, string>,
): Ladder {
  return {
    id,
    title,
    summary,
    folder,
    task: null,
    scalars: {},
    options: {},
    sizes: [],
    reference: reference ?? null,
    rungs: rungs.map(({ id: rung, title: named, idea, after, program, negative, note }) => ({
      id: rung,
      title: named,
      header: {
        id: rung,
        title: named,
        after: after ?? null,
        idea: idea ?? program.join(' '),
        expect: [],
        params: [],
        options: {},
        flags: [],
        requires: null,
      },
      params: {},
      file: files.get(rung) ?? '',
      program: [...program],
      ...(negative === undefined ? {} : { negative }),
      ...(note === undefined ? {} : { note }),
    })),
  }
}
