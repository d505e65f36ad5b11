/**
 * Parses lab.md, which consists of YAML front matter between two `---` lines, followed by Markdown.
 *
 * Every error is reported with its line. An invalid file never causes an exception.
 */
import {
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  type Document,
  type ParsedNode,
} from 'yaml'
import type { z } from 'zod'
import { together, type Statement } from '../../domain/messages/message'
import { inEnglish } from '../../domain/text/english'
import { type Sizes } from '../../domain/task/problem'
import { sizeNames, type Task } from '../../domain/task/task'
import { toErrorShape } from '../../domain/errors'
import { ExpressionError, namesIn, parseExpression } from '../../domain/task/expression'
import { isLadderPath, isPredictable, LabFile, type LabFault } from '../../domain/labs/lab'
import { metricDefinition, metricIds } from '../../domain/metrics/metrics'
import { tooMuch } from '../kernels/yaml-places'
import { withInputs } from '../../domain/labs/lab-inputs'
import { isQuestionName } from '../../domain/labs/question-values'
import { problemAt } from '../../domain/task/problem-request'
import { askMeant } from '../../domain/text/nearest'

/** Names of the ladders, tasks, and rungs to which a lab may refer. */
export interface LabReferences {
  /** Rung ids by ladder id. */
  ladders: ReadonlyMap<string, ReadonlySet<string>>
  /** Each ladder's task, by ladder id. */
  tasks: ReadonlyMap<string, Task>
  /** Ids of all rungs in the catalog. */
  rungs: ReadonlySet<string>
}

export interface ParsedLab {
  /** The parsed lab, or null if the file has errors. */
  lab: LabFile | null
  body: string
  /** Images to which the Markdown text refers. */
  pictures: { path: string; line: number }[]
  /** Files named in the front matter, each with its line. */
  files: { path: string; line: number }[]
  /**
   * Line of `needs.labs`, or the first line of the front matter if there is no such key. Errors
   * about the required labs are reported at this line.
   */
  needsLine: number
  /** Line of `ladder`. Line at which errors in a ladder folder are reported. */
  ladderLine: number
  faults: LabFault[]
}

type Path = readonly PropertyKey[]
type Report = (path: Path, message: string) => void

/** Line number in the file at which the front matter begins. */
const firstLine = 2

interface Matter {
  document: Document.Parsed
  counter: LineCounter
}

/** lab.md's front matter and Markdown text. */
export interface LabText {
  body: string
  bodyLine: number
  /** Parsed front matter, or the reason that it could not be parsed. */
  matter: Matter | { refused: Statement }
}

/** Splits lab.md into front matter and Markdown. Returns null if the file has no front matter. */
export function readLabText(text: string): LabText | null {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines[0]?.trimEnd() !== '---') return null
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end < 0) return null
  return {
    matter: readMatter(lines.slice(1, end).join('\n')),
    body: lines.slice(end + 1).join('\n'),
    bodyLine: end + 2,
  }
}

function readMatter(text: string): LabText['matter'] {
  const refused = tooMuch(text)
  if (refused !== null) return { refused }
  const counter = new LineCounter()
  const options = { lineCounter: counter, prettyErrors: false, logLevel: 'error' } as const
  return { document: parseDocument(text, options), counter }
}

function lineOf(document: Document.Parsed, counter: LineCounter, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown =
      length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return counter.linePos(node.range[0]).line + firstLine - 1
  }
  return firstLine
}

/** Returns the line of a key in the mapping at `path`. */
function keyLine(document: Document.Parsed, counter: LineCounter, path: Path, key: string): number {
  const map: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
  const pair = isMap<ParsedNode, ParsedNode | null>(map)
    ? map.items.find((item) => isScalar(item.key) && item.key.value === key)
    : undefined
  return pair?.key.range
    ? counter.linePos(pair.key.range[0]).line + firstLine - 1
    : lineOf(document, counter, path)
}

const place = (path: Path): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`,
    '',
  )

const list = (words: Iterable<string>): string => [...words].join(', ')

function checkRungs(lab: LabFile, references: LabReferences, report: Report): void {
  const ofLadder = references.ladders.get(lab.ladder)
  if (!ofLadder) {
    // Don't report an error here, because the caller has already reported why the ladder folder is
    // unusable.
    if (isLadderPath(lab.ladder)) return
    report(
      ['ladder'],
      `There is no ladder named ${lab.ladder}. The ladders are: ${list(references.ladders.keys())}.`,
    )
    return
  }
  const check = (path: Path, rung: string): void => {
    if (!ofLadder.has(rung) && !references.rungs.has(rung))
      report(
        path,
        `${place(path)} names the rung ${rung}, which is neither in the ladder ${lab.ladder} (${list(ofLadder)}) nor in the catalog.`,
      )
  }
  check(['before'], lab.before)
  check(['target'], lab.target)
  for (const [index, item] of lab.checks.entries()) {
    if (item.kind !== 'metric' && item.kind !== 'time') continue
    for (const side of ['below', 'above'] as const) {
      const bound = side in item ? (item as Record<typeof side, unknown>)[side] : undefined
      if (bound !== undefined)
        check(['checks', index, side, 'rung'], (bound as { rung: string }).rung)
    }
  }
  for (const [index, { against }] of lab.predictions.entries())
    if (against !== undefined) check(['predictions', index, 'against'], against)
}

function checkMetrics(lab: LabFile, report: Report): void {
  for (const [index, item] of lab.checks.entries()) {
    if (item.kind === 'static') {
      if ((item.maxRegisters ?? item.maxSharedBytes ?? item.noSpills) === undefined)
        report(
          ['checks', index],
          'The check has no bound: give maxRegisters, maxSharedBytes or noSpills.',
        )
      continue
    }
    if (item.kind !== 'metric') continue
    if (!metricDefinition(item.metric))
      report(
        ['checks', index, 'metric'],
        `There is no metric named ${item.metric} in the registry (docs/reference/metrics.md).${askMeant(item.metric, metricIds)}`,
      )
    if ((item.min ?? item.max ?? item.below ?? item.above) === undefined)
      report(['checks', index], 'The check has no bound: give min, max, below or above.')
    if (item.min !== undefined && item.max !== undefined && item.min > item.max)
      report(['checks', index, 'min'], `min ${item.min} is above max ${item.max}.`)
  }
  for (const [index, { metric }] of lab.predictions.entries())
    if (!isPredictable(metric))
      report(
        ['predictions', index, 'metric'],
        `There is no metric named ${metric} in the registry (docs/reference/metrics.md), and it is not "time".${askMeant(metric, metricIds)}`,
      )
}

/**
 * Checks that the ladder's task has every size, scalar, option, and buffer to which the lab refers.
 */
function checkTask(lab: LabFile, task: Task, report: Report): void {
  const check = (path: Path, sizes: Sizes, scalars: Record<string, number> = {}): void => {
    try {
      problemAt(task, { at: { ...lab.options, ...scalars, ...sizes } }, {})
    } catch (error) {
      const { message, remedy } = toErrorShape(error)
      report(path, `${place(path)}: ${inEnglish(together(message, remedy))}`)
    }
  }
  check(['size'], lab.size)
  for (const fault of withInputs(task, lab.inputs).faults)
    report(['inputs', ...fault.path], inEnglish(fault.message))
  for (const [index, item] of lab.checks.entries()) {
    if (item.kind === 'sanitizer') check(['checks', index, 'size'], item.size)
    if (item.kind === 'correctness')
      for (const [at, sizes] of item.sizes.entries())
        check(['checks', index, 'sizes', at], sizes, item.scalars)
  }
}

/**
 * Returns the front matter with bare names moved to their sections. In older labs, task options and
 * check scalars can have bare names. When the older labs were written, the matrix product was the
 * only task.
 */
function gathered(value: unknown, task: Task | undefined): unknown {
  const isRecord = (one: unknown): one is Record<string, unknown> =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
  const gather = (one: unknown, key: 'options' | 'scalars'): unknown => {
    if (!isRecord(one) || !task) return one
    const names = Object.keys(task[key]).filter((name) => Object.hasOwn(one, name))
    if (names.length === 0) return one
    const rest = Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name)))
    const own = Object.fromEntries(names.map((name) => [name, one[name]]))
    return { ...rest, [key]: isRecord(one[key]) ? { ...own, ...one[key] } : own }
  }
  const lab = gather(value, 'options')
  if (!isRecord(lab) || !Array.isArray(lab.checks)) return lab
  const checks = lab.checks.map((one: unknown) =>
    isRecord(one) && one.kind === 'correctness' ? gather(one, 'scalars') : one,
  )
  return { ...lab, checks }
}

/**
 * Checks the answers defined in the lab. If there is no task, the lab's sizes and the names in its
 * answers cannot be checked.
 */
function checkAnswers(lab: LabFile, task: Task | undefined, report: Report): void {
  for (const [index, { answer }] of lab.questions.entries()) {
    const path = ['questions', index, 'answer']
    try {
      const unknown = namesIn(parseExpression(answer)).filter(
        (name) => task && !isQuestionName(name, sizeNames(task)),
      )
      if (unknown.length > 0)
        report(path, `The answer uses ${list(unknown)}, which docs/guides/labs.md does not list.`)
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      report(path, `The answer is not a valid expression. ${error.message}`)
    }
  }
}

function checkNames(lab: LabFile, report: Report): void {
  for (const group of ['checks', 'predictions', 'questions'] as const) {
    const seen = new Set<string>()
    for (const [index, { id }] of lab[group].entries()) {
      if (seen.has(id)) report([group, index, 'id'], `The id ${id} is repeated.`)
      seen.add(id)
    }
  }
}

function checkStarterFails(lab: LabFile, report: Report): void {
  for (const [index, id] of lab.starterFails?.entries() ?? [])
    if (!lab.checks.some((check) => check.id === id))
      report(['starterFails', index], `There is no check with the id ${id}.`)
}

function picturesIn(body: string, bodyLine: number): ParsedLab['pictures'] {
  return body.split('\n').flatMap((text, index) =>
    [...text.matchAll(/!\[[^\]]*\]\(\s*<?([^)\s>]+)/g)].map(([, path]) => ({
      path: path!,
      line: bodyLine + index,
    })),
  )
}

function zodMessage(issue: z.core.$ZodIssue): string {
  const where = place(issue.path)
  return `${where === '' ? '' : `${where}: `}${issue.message}.`.replace(/\.\.$/, '.')
}

/**
 * Returns the ladder folder that the front matter names, relative to the lab's folder. Returns null
 * if the front matter names no folder.
 */
export function ladderPathIn(text: LabText | null): string | null {
  if (!text || 'refused' in text.matter) return null
  const { document } = text.matter
  const ladder = isMap(document.contents) ? document.get('ladder') : null
  return typeof ladder === 'string' && isLadderPath(ladder) ? ladder : null
}

/** Parses a lab. `file` is used only in error messages. */
export function parseLab(text: LabText | null, file: string, references: LabReferences): ParsedLab {
  const faults: LabFault[] = []
  const parsed: ParsedLab = {
    lab: null,
    body: '',
    pictures: [],
    files: [],
    needsLine: firstLine,
    ladderLine: firstLine,
    faults,
  }
  if (!text) {
    faults.push({
      file,
      line: 1,
      message: 'It does not begin with front matter: a line "---", keys, and another line "---".',
    })
    return parsed
  }
  const { body, bodyLine, matter } = text
  parsed.body = body
  parsed.pictures = picturesIn(body, bodyLine)
  if (body.trim() === '')
    faults.push({ file, line: bodyLine, message: 'There is no text below the front matter.' })

  if ('refused' in matter) {
    faults.push({ file, line: firstLine, message: inEnglish(matter.refused) })
    return parsed
  }
  const { document, counter } = matter
  for (const { message, pos } of [...document.errors, ...document.warnings])
    faults.push({
      file,
      line: counter.linePos(pos[0]).line + firstLine - 1,
      message: `${message.replace(/\s+/g, ' ')}.`.replace(/\.\.$/, '.'),
    })
  if (document.errors.length > 0) return parsed
  let value: unknown
  try {
    // Reject aliases, because they can expand a short file to a huge document.
    value = document.toJS({ maxAliasCount: 0 })
  } catch {
    faults.push({
      file,
      line: firstLine,
      message: 'Anchors and aliases (&, *) are not supported here.',
    })
    return parsed
  }

  const report: Report = (path, message) => {
    faults.push({ file, line: lineOf(document, counter, path), message })
  }
  parsed.needsLine = lineOf(document, counter, ['needs', 'labs'])
  parsed.ladderLine = lineOf(document, counter, ['ladder'])
  const ladder = (value as { ladder?: unknown } | null)?.ladder
  const task = typeof ladder === 'string' ? references.tasks.get(ladder) : undefined
  const read = LabFile.safeParse(gathered(value, task))
  if (!read.success) {
    for (const issue of read.error.issues)
      if (issue.code === 'unrecognized_keys')
        for (const key of issue.keys)
          faults.push({
            file,
            line: keyLine(document, counter, issue.path, key),
            message: `There is no key ${JSON.stringify(key)}${issue.path.length > 0 ? ` in ${place(issue.path)}` : ''}.`,
          })
      else report(issue.path, zodMessage(issue))
  } else {
    const lab = read.data
    parsed.files = (['starter', 'solution'] as const).map((key) => ({
      path: lab[key],
      line: lineOf(document, counter, [key]),
    }))
    checkNames(lab, report)
    checkRungs(lab, references, report)
    checkMetrics(lab, report)
    if (task) checkTask(lab, task, report)
    checkAnswers(lab, task, report)
    checkStarterFails(lab, report)
    if (faults.length === 0) parsed.lab = lab
  }
  faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  return parsed
}
