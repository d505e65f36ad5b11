/**
 * A ladder file, cuda-kernels/<task>/ladders/<id>.json, read strictly: a misspelt key is a fault and not
 * ignored. Whatever is wrong becomes one sentence with the file and the place in the document.
 */
import { inEnglish } from '../../domain/text/wording'
import { z } from 'zod'
import { inputError, toErrorShape } from '../../domain/errors'
import { LadderEntry, LadderFile, Published } from '../../domain/ladder/ladder'
import { problemAt } from '../../domain/task/choose'
import type { Sizes } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'

const StrictLadderFile = LadderFile.extend({
  published: Published.strict().optional(),
  rungs: z.array(LadderEntry.strict()).min(1),
}).strict()

/** `rungs[2].params.TM` */
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

/** Throws where the ladder's sizes, scalars or options are not the task's. */
function checkAgainst(task: Task, ladder: LadderFile, file: string): void {
  const check = (where: string, sizes: Sizes, options: LadderEntry['options']): void => {
    try {
      problemAt(task, { at: { ...ladder.scalars, ...ladder.options, ...options, ...sizes } }, {})
    } catch (error) {
      const { message } = toErrorShape(error)
      throw inputError(`${file} is not a ladder: ${where}: ${inEnglish(message)}`)
    }
  }
  for (const [index, sizes] of ladder.sizes.entries()) check(`sizes[${index}]`, sizes, {})
  for (const [index, { options }] of ladder.rungs.entries())
    check(`rungs[${index}].options`, ladder.sizes[0]!, options)
  if (ladder.published) check('published.size', ladder.published.size, {})
}

/** `tasks` are those that a ladder may name, by id. */
export function parseLadderFile(
  text: string,
  file: string,
  tasks: ReadonlyMap<string, Task>,
): LadderFile {
  const parsed = StrictLadderFile.safeParse(parseJson(text, file))
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message }) => `${place(path) || 'the document'}: ${message}`,
    )
    throw inputError(`${file} is not a ladder: ${faults.join('; ')}.`)
  }
  const names = parsed.data.rungs.map(({ id, as }) => as ?? id)
  const twice = names.findIndex((name, index) => names.indexOf(name) < index)
  if (twice >= 0)
    throw inputError(
      `${file} is not a ladder: rungs[${twice}] repeats the name ${names[twice]}; give the variant its own name with "as".`,
    )
  const task = tasks.get(parsed.data.task)
  if (!task)
    throw inputError(
      `${file} names the task ${parsed.data.task}, which does not exist or cannot be used.`,
    )
  checkAgainst(task, parsed.data, file)
  return parsed.data
}
