/**
 * Parses a shipped ladder file, cuda-kernels/<task>/ladders/<id>.json.
 *
 * The parser is strict, so a misspelled key is an error. Each error message contains the file and
 * the location in the document.
 */
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { LadderEntry, LadderFile, Published } from '../../domain/ladder/ladder'
import { Task } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/english'
import { ladderFaults } from '../../domain/ladder/ladder-faults'

const StrictLadderFile = LadderFile.extend({
  published: Published.strict().optional(),
  rungs: z.array(LadderEntry.strict()).min(1),
}).strict()

/** Returns a location such as `rungs[2].params.TM`. */
const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`,
    '',
  )

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw inputError(`${file} is not JSON: ${reason.replace(/\s+/g, ' ')}.`)
  }
}

/** Parses a ladder file. `tasks` contains the tasks that a ladder may name, by id. */
export function parseLadderFile(
  text: string,
  file: string,
  tasks: ReadonlyMap<string, Task>,
): LadderFile {
  const parsed = StrictLadderFile.safeParse(parseJson(text, file))
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message: fault }) => `${place(path) || 'the document'}: ${fault}`,
    )
    throw inputError(`${file} is not a ladder: ${faults.join('; ')}.`)
  }
  const task = tasks.get(parsed.data.task)
  if (!task)
    throw inputError(
      `${file} names the task ${parsed.data.task}, which does not exist or cannot be used.`,
    )
  const [fault] = ladderFaults(task, parsed.data)
  if (fault)
    throw inputError(`${file} is not a ladder: ${place(fault.path)}: ${inEnglish(fault.message)}`)
  return parsed.data
}
