/**
 * A ladder file, cuda-kernels/ladders/<id>.json, read strictly: a misspelt key is a fault and not
 * ignored. Whatever is wrong becomes one sentence with the file and the place in the document.
 */
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { LadderEntry, LadderFile, Published } from '../../domain/ladder/ladder'

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

export function parseLadderFile(text: string, file: string): LadderFile {
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
      `${file} is not a ladder: rungs[${twice}] has the name ${names[twice]} again; give the variant one of its own with "as".`,
    )
  return parsed.data
}
