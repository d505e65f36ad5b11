/**
 * Draws charts from the Charts screen as images. A browser on this machine opens an HTML report and
 * runs the Charts screen's code. The result therefore matches the images that the Charts screen
 * saves.
 */
import type { PageDrawer } from '../../adapters/print/chromium'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { problemLabel } from '../../domain/task/problem'
import { roofline } from '../../domain/analysis/roofline'
import type { Session } from '../../domain/session/session'
import { openSession, type OpenedSession } from '../sessions/open-session'
import { readTemplate } from './html'
import { drawingPage, type Choice } from './index'
import {
  chartIds,
  chartWord,
  isChartId,
  mixScales,
  rooflineChoices,
  stallScales,
  sweepMeasures,
  type ChartId,
  type Drawing,
} from '../../domain/report/chart-drawings'
import { meantOr } from '../../domain/text/nearest'
import { summaryOf } from '../../domain/session/session-summary'
import { firstChoice, sweepCandidates } from '../../domain/session/size-series'
import type { SessionPlaces } from '../sessions/session-places'
import { listAll } from '../sessions/list-sessions'

/**
 * Returns the options in a chart's controls for a session, or null if the chart has no controls.
 */
function choicesOf(chart: ChartId, session: Session): readonly string[] | null {
  switch (chart) {
    case 'roofline':
      return rooflineChoices.filter(
        (level) => level === 'all' || roofline(session).paths[level].length > 0,
      )
    case 'stalls':
      return stallScales
    case 'mix':
      return mixScales
    case 'waves':
      return session.rungs.map(({ id }) => id)
    case 'sweep':
      return sweepMeasures
    case 'study':
      return [...new Set(session.rungs.flatMap(({ metrics }) => Object.keys(metrics)))]
    case 'traffic':
    case 'occupancy':
      return null
  }
}

function checkChoice(chart: ChartId, choice: string, session: Session): void {
  const choices = choicesOf(chart, session)
  if (choices === null) throw inputError(message('reports.nothingToChoose', { chart }))
  if (!choices.includes(choice))
    throw inputError(
      message('reports.noChoice', { choice: JSON.stringify(choice), chart }),
      choices.length > 0 ? message('reports.choices', { choices: choices.join(', ') }) : undefined,
    )
}

/**
 * Whether a name refers to a chart on the Charts screen. Other names refer to bar charts of
 * counters.
 */
export const isDrawnWord = (word: string): boolean => isChartId(chartWord(word).chart)

/**
 * Throws an error if a chart or its option is not available for the session. A bar chart needs the
 * throughput or a counter that at least one rung has.
 */
export function checkCharts(words: readonly string[], session: Session): void {
  const counters = [...new Set(session.rungs.flatMap(({ metrics }) => Object.keys(metrics)))]
  for (const word of words) {
    const { chart, choice } = chartWord(word)
    if (isChartId(chart)) {
      if (choice !== undefined) checkChoice(chart, choice, session)
    } else if (word !== 'throughput' && !counters.includes(word)) {
      const known = [...chartIds, 'throughput', ...counters]
      throw inputError(
        message('reports.noChart', { chart: JSON.stringify(word) }),
        meantOr(word, known, message('reports.charts', { charts: known.join(', ') })),
      )
    }
  }
}

/**
 * Returns the session and, for each other size of its ladder, the newest session on the same GPU.
 */
async function sweepSessions(
  places: SessionPlaces,
  opened: OpenedSession,
): Promise<OpenedSession[]> {
  const { session } = opened
  const own = summaryOf('own', 'live', 'own', session)
  const size = session.problem && problemLabel(session.problem)
  const others = (await listAll(places)).filter(
    ({ problem }) => problem === null || problemLabel(problem) !== size,
  )
  const chosen = firstChoice(sweepCandidates([own, ...others], own), 'own')
  return [
    opened,
    ...(await Promise.all(
      chosen.filter((ref) => ref !== 'own').map((ref) => openSession(places, ref)),
    )),
  ]
}

interface DrawTools {
  places: SessionPlaces
  drawInPage: PageDrawer
}

/**
 * Draws the named charts. A chart is null if the session has no data for that chart. `problem` is
 * the page's explanation for missing charts.
 */
export async function drawCharts(
  { places, drawInPage }: DrawTools,
  opened: OpenedSession,
  words: readonly string[],
  choice: Choice,
): Promise<{ drawings: Map<string, Drawing | null>; problem: string }> {
  const isSwept = words.some((word) => chartWord(word).chart === 'sweep')
  const sessions = isSwept ? await sweepSessions(places, opened) : [opened]
  const page = drawingPage(sessions, choice, await readTemplate(places.assets))
  const { drawings, words: problem } = await drawInPage(page, words)
  return {
    drawings: new Map(words.map((word, index) => [word, drawings[index] ?? null])),
    problem: problem,
  }
}

/**
 * Draws a chart and returns its SVG text. Throws an input error if the session has no data for the
 * chart.
 */
export async function drawChart(
  tools: DrawTools,
  opened: OpenedSession,
  { word, ...choice }: Choice & { word: string },
): Promise<string> {
  checkCharts([word], opened.session)
  const { drawings, problem: problem } = await drawCharts(tools, opened, [word], choice)
  const drawing = drawings.get(word)
  if (drawing) return drawing.svg
  throw inputError(problem || message('reports.nothingToDraw', { chart: word }))
}
