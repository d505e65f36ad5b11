/**
 * `kernel-ladder history`: shows how a ladder's rung times changed from session to session.
 */
import { inEnglish } from '../../../domain/text/english'
import { message } from '../../../domain/messages/message'
import type { SetUp } from '../../../adapters/machine/machine'
import { percentChange } from '../../../domain/analysis/time-change'
import { inputError } from '../../../domain/errors'
import { type Change, type History, type Series } from '../../../domain/history/history'
import { formatMs } from '../../../domain/metrics/units'
import { problemWord } from '../../../domain/task/problem'
import { openLadder } from '../../../services/folders/open'
import { readHistory, usualPercent } from '../../../services/sessions/history'
import { parseChoice, type ProblemOptions } from '../parse-run-request'
import { note, printJson, printText } from '../output'
import { findLadder, taskOf } from '../../../services/catalog/resolve'
import { fewestPoints } from '../../../domain/history/change-points'
import { problemAt } from '../../../domain/task/problem-request'
import type { NamedOption } from '../task-options'
import { words } from '../option-values'
import { historyDocument } from '../documents/history'

export interface HistoryCommandOptions extends ProblemOptions {
  ladder: string
  rungs?: string
  threshold?: string
  json?: boolean
}

function percent(word: string): number {
  const value = /^\d+(\.\d+)?$/.test(word) ? Number(word) : NaN
  if (value >= 0.1 && value <= 100) return value
  throw inputError(
    `--threshold ${JSON.stringify(word)} is not a percentage from 0.1 to 100.`,
    `For example: --threshold ${usualPercent}.`,
  )
}

export async function historyCommand(
  setUp: SetUp,
  options: HistoryCommandOptions,
  named: readonly NamedOption[],
): Promise<number> {
  const leastPercent = options.threshold === undefined ? usualPercent : percent(options.threshold)
  const choice = parseChoice(options, named)
  const setup = await setUp()
  const { catalog, id } = await openLadder(setup, options.ladder)
  const file = findLadder(catalog, id)
  const hasFilter = Object.keys(choice).length > 0
  const history = await readHistory(setup, {
    ladder: id,
    leastPercent,
    ...(options.rungs === undefined ? {} : { rungs: words(options.rungs) }),
    ...(hasFilter
      ? { sizes: problemAt(taskOf(catalog, file), choice, { ...file, sizes: file.sizes[0] }).sizes }
      : {}),
  })
  if (options.json) printJson(historyDocument, history)
  else printText(describe(history))
  for (const name of history.unreadable) note(`warning: the session ${name} cannot be read.`)
  return 0
}

const steps = [...'▁▂▃▄▅▆▇█']

/**
 * Returns one bar per point, scaled between the fastest and the slowest time. If there are too many
 * points, neighboring points share a bar.
 */
function sparkline(values: readonly number[]): string {
  const most = 60
  const size = Math.ceil(values.length / most)
  const bars = Array.from({ length: Math.ceil(values.length / size) }, (_, bar) => {
    const own = values.slice(bar * size, (bar + 1) * size)
    return own.reduce((sum, value) => sum + value, 0) / own.length
  })
  const [low, high] = [Math.min(...bars), Math.max(...bars)]
  return bars
    .map((value) => steps[high > low ? Math.round(((value - low) / (high - low)) * 7) : 3])
    .join('')
}

function describeChange({ createdAt, session, ratio, relative, ...change }: Change): string {
  const why = change.sourceChanged
    ? 'its source changed'
    : relative !== null && Math.abs(Math.log(relative)) < Math.abs(Math.log(ratio)) / 3
      ? 'the same source, and the reference moved with it'
      : 'the same source'
  return `    ${createdAt.slice(0, 10)} ${percentChange(ratio)}: ${formatMs(change.beforeMs)} → ${formatMs(change.afterMs)} from ${session} on; ${why}`
}

function describeSeries({ points, changes, rung, environment: at, problem }: Series): string[] {
  const times = points.map(({ ms }) => ms)
  const [first, last] = [times[0]!, times.at(-1)!]
  const few = points.length < 2 * fewestPoints
  return [
    `${rung} at ${problemWord(problem)} ${at.model === undefined ? 'on' : `predicted by ${at.model} for`} ${at.gpu}, L2 ${inEnglish(message(`cacheState.${at.cacheState}`))}, driver ${at.driver ?? 'unknown'}, nvcc ${at.nvcc ?? 'unknown'}`,
    `    ${sparkline(times)}  ${points.length} ${points.length === 1 ? 'session' : 'sessions'}, ${at.model === undefined ? '' : '≈ '}${formatMs(first)} → ${formatMs(last)} (${percentChange(last / first)})`,
    ...changes.map(describeChange),
    ...(changes.length > 0
      ? []
      : [
          few
            ? `    too few sessions to find a change: it takes ${2 * fewestPoints}`
            : '    no change found',
        ]),
  ]
}

const describe = ({ series }: History): string => series.flatMap(describeSeries).join('\n')
