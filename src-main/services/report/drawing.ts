/**
 * A chart of the Charts screen as a picture: drawn by the screen's own code, in an HTML report opened by a browser on
 * this machine, so that it is identical to the picture that the screen saves.
 */
import type { PageDrawer } from '../../adapters/print/chromium'
import { firstChoice, sweepCandidates } from '../../contract/sweep-sessions'
import { summaryOf } from '../../contract/session-summary'
import {
  drawingAddress,
  mixScales,
  rooflineChoices,
  stallScales,
  sweepMeasures,
  type ChartId,
} from '../../domain/report/drawing'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { problemLabel } from '../../domain/task/problem'
import { roofline } from '../../domain/analysis/roofline'
import type { Session } from '../../domain/session/session'
import { listAll, openSession, type OpenedSession, type SessionPlaces } from '../sessions/sessions'
import { readTemplate } from './html'
import { drawingPage, type Choice } from './index'

/** The possible settings of a chart's controls for a session; null if it has none. */
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

/** The session itself and, for each other size of its ladder on this GPU, the newest listed session. */
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

export interface DrawTools {
  places: SessionPlaces
  drawInPage: PageDrawer
}

/** The SVG text. Throws an input error if the session has no data for the chart. */
export async function drawChart(
  { places, drawInPage }: DrawTools,
  opened: OpenedSession,
  { chart, choice, ...told }: Choice & { chart: ChartId; choice?: string },
): Promise<string> {
  if (choice !== undefined) checkChoice(chart, choice, opened.session)
  const sessions = chart === 'sweep' ? await sweepSessions(places, opened) : [opened]
  const page = drawingPage(sessions, told, await readTemplate(places.assets))
  const { svg, words } = await drawInPage(page, drawingAddress(chart, choice))
  if (svg !== null) return svg
  throw inputError(words || message('reports.nothingToDraw', { chart }))
}

/** In CSS pixels, as stated in the drawing. */
export function sizeOfSvg(svg: string): { width: number; height: number } {
  const of = (name: string): number =>
    Number(new RegExp(`^<svg[^>]* ${name}="(\\d+)`).exec(svg)?.[1])
  const [width, height] = [of('width'), of('height')]
  if (!(width > 0 && height > 0)) throw new Error('The drawing does not state its size.')
  return { width, height }
}
