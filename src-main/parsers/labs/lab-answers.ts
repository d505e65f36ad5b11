/**
 * Parses answers.yaml, which students submit together with the code. An empty value is a missing
 * answer. If an answer does not belong to a question, the error message contains the answer's line.
 */
import { isNode, LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { predictionDirections, type Lab } from '../../domain/labs/lab'
import type { LabAnswers } from '../../domain/labs/outcome'

const AnswersFile = z.strictObject({
  predictions: z
    .record(
      z.string(),
      z
        .strictObject({
          direction: z.enum(predictionDirections).nullish(),
          factor: z.number().positive().nullish(),
        })
        .nullable(),
    )
    .nullish(),
  questions: z.record(z.string(), z.number().nullable()).nullish(),
})

/**
 * Limits on the indentation of a line and on the number of brackets and other nesting characters.
 * Real answers are far below these limits.
 */
const most = { indentation: 32, openers: 64 }

/**
 * Throws an input error if the text is nested too deeply. Parsing time grows as a power of the
 * nesting depth. For example, a kilobyte of `?` and spaces takes half a minute. Real answers are
 * nested two levels deep.
 */
function refuseDepth(text: string, file: string): void {
  let openers = 0
  for (const [at, line] of text.split('\n').entries()) {
    if (/^\s*#/.test(line)) continue
    openers += line.match(/[[{]|[-?](?=\s|$)/g)?.length ?? 0
    const indentation = line.length - line.trimStart().length
    if (indentation > most.indentation || openers > most.openers)
      throw inputError(`${file}:${at + 1}: this is nested deeper than answers can be.`)
  }
}

/** Parses answers. Throws an input error with the file and line of the first error. */
export function parseAnswers(
  text: string,
  file: string,
  lab: Pick<Lab, 'predictions' | 'questions'>,
): LabAnswers {
  refuseDepth(text, file)
  const counter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    logLevel: 'error',
  })
  const fail = (path: readonly PropertyKey[], message: string): never => {
    for (let length = path.length; length > 0; length -= 1) {
      const node: unknown = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range)
        throw inputError(`${file}:${counter.linePos(node.range[0]).line}: ${message}`)
    }
    throw inputError(`${file}: ${message}`)
  }
  const [broken] = document.errors
  if (broken)
    throw inputError(
      `${file}:${counter.linePos(broken.pos[0]).line}: ${broken.message.replace(/\s+/g, ' ')}`,
    )
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 0 })
  } catch {
    throw inputError(`${file}: anchors and aliases (&, *) are not supported here.`)
  }
  const read = AnswersFile.safeParse(value ?? {})
  if (!read.success) {
    const [issue] = read.error.issues
    return fail(issue?.path ?? [], `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
  }
  const known = (group: 'predictions' | 'questions', id: string): void => {
    if (!lab[group].some((part) => part.id === id))
      fail([group, id], `The lab has no ${group.slice(0, -1)} ${JSON.stringify(id)}.`)
  }
  const answers: LabAnswers = { predictions: {}, questions: {} }
  for (const [id, given] of Object.entries(read.data.predictions ?? {})) {
    known('predictions', id)
    if (given?.direction)
      answers.predictions[id] = { direction: given.direction, factor: given.factor ?? null }
  }
  for (const [id, given] of Object.entries(read.data.questions ?? {})) {
    known('questions', id)
    if (given !== null) answers.questions[id] = given
  }
  return answers
}

const comment = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  # ${line}\n`)
    .join('')

/** Returns an empty answer file, with each question above the space for its answer. */
export function answersTemplate(lab: Pick<Lab, 'predictions' | 'questions' | 'before'>): string {
  const predictions = lab.predictions.map(
    ({ id, metric, ask, against, factor }) =>
      `${comment(`${ask} (${metric}, relative to ${against ?? lab.before})`)}  ${id}:\n    direction: # up, down or same\n${factor ? '    factor: # new value / old value\n' : ''}`,
  )
  const questions = lab.questions.map(
    ({ id, ask, unit }) => `${comment(`${ask}${unit === '' ? '' : ` (${unit})`}`)}  ${id}:\n`,
  )
  return [
    '# Fill this in before you measure. `lab check` reads it if it is next to the code.\n',
    `predictions:\n${predictions.join('')}`,
    `questions:\n${questions.join('')}`,
  ].join('')
}
