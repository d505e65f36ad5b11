/** What every chart of this screen has besides its drawing: words, the pinned rung, and links to rungs. */
import { useI18n } from 'vue-i18n'
import { computed, inject, type InjectionKey } from 'vue'
import { useRouter, type RouteLocationRaw } from 'vue-router'
import { type MetricValue, metricDefinition } from '../../../src-main/domain/metrics/metrics'
import { type RungResult, type Session, rungBefore } from '../../../src-main/domain/session/session'
import { numberOf } from '../shown-rungs'
import { formatDate, problemText } from '../../ui/format'
import type { ChartId } from '../../../src-main/domain/report/report-format'
import { useBaselineStore, useRungFocusStore } from '../../stores/app'
import { guardOf } from '../other-sessions'
import { valueOf } from '../../stores/loadable'
import { useSessionsStore } from '../../stores/sessions'
import { inEnglish } from '../../../src-main/domain/text/text'
import { says, type Statement } from '../../../src-main/domain/messages/message'
import {
  profileLevels,
  type MetricDefinition,
  type ProfileLevel,
} from '../../../src-main/domain/metrics/metric-definition'
import { areTimesRanked } from '../../../src-main/domain/analysis/comparability'
import { runCommand } from '../../../src-main/domain/session/commands'
import { unusualScalars } from '../../../src-main/domain/task/problem'
import { can } from '../../../src-main/domain/target/targets'

// What every chart of this screen passes to its frame besides the drawing.

/** The same data as a table: the text alternative, and the place for exact values. */
export interface FigureTable {
  columns: readonly string[]
  /** A value with its origin, null if none was collected, or text. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

/** `02 Coalesced`; an import's titles already start with the number. */
export function rungLabel(session: Session, rung: RungResult): string {
  const number = numberOf(session, rung)
  return rung.title.startsWith(number) ? rung.title : `${number} ${rung.title}`
}

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }

// Text shared by several charts: where the data comes from, and file names.

/** Further rungs are counted and not named: a program can have hundreds of kernels, of long names. */
const mostNamed = 12
const mostLetters = 160

/** As many of them as are named, at least one. */
export function named(names: readonly string[]): readonly string[] {
  let letters = 0
  const past = names.findIndex((name, index) => {
    letters += name.length
    return index === mostNamed || (index > 0 && letters > mostLetters)
  })
  return past === -1 ? names : names.slice(0, past)
}

export function useChartWords() {
  const { t } = useI18n()

  const origin = (session: Session): string => {
    const { problem } = session
    return [
      session.ladder.title,
      ...(problem ? [problemText(problem, unusualScalars(session.ladder.task, problem))] : []),
      ...(session.device ? [session.device.name] : []),
      ...(session.tools.nvcc ? [`nvcc ${session.tools.nvcc}`] : []),
      ...(session.tools.ncu ? [`ncu ${session.tools.ncu}`] : []),
      t(`targets.${session.target.kind}.chart`, { date: formatDate(session.createdAt) }),
    ].join(' · ')
  }

  const fileName = (session: Session, chart: ChartId): string => {
    const [size] = Object.values(session.problem?.sizes ?? {})
    return [session.ladder.id, ...(size === undefined ? [] : [String(size)]), chart].join('-')
  }

  /** The names, or the first of very many. */
  const someOf = (names: readonly string[]): string => {
    const first = named(names)
    const more = names.length - first.length
    const rungs = first.join(', ')
    return more > 0 ? t('charts.andMore', { rungs, count: more }) : rungs
  }

  /** Names the rungs that are not drawn, with the reason if they share one. */
  const leftOut = (session: Session, rungs: readonly RungResult[], reason?: string): string[] =>
    rungs.length === 0
      ? []
      : [
          t(reason === undefined ? 'charts.leftOut' : 'charts.leftOutBecause', {
            rungs: someOf(rungs.map((rung) => rungLabel(session, rung))),
            reason: reason ?? '',
          }),
        ]

  return { origin, fileName, someOf, leftOut }
}

// The pinned rung as charts need it: null without one, and where its session allows no verdict on this one.

export interface ChartBaseline {
  session: Session
  rung: RungResult
  name: string
  /** L2 held the same as in the session shown, so that times may be held against it. */
  ranksTimes: boolean
}

export function useChartBaseline(session: () => Session) {
  const baselines = useBaselineStore()
  return computed((): ChartBaseline | null => {
    const base = baselines.baseline
    if (!base || guardOf(base.session, session()).refusals.length > 0) return null
    return {
      ...{ session: base.session, rung: base.rung, name: rungLabel(base.session, base.rung) },
      ranksTimes: areTimesRanked(base.session, session()),
    }
  })
}

// From a chart to the rungs that it draws, and what other charts and tables point at.

export function useRungLinks() {
  const router = useRouter()
  const sessions = useSessionsStore()
  const focus = useRungFocusStore()
  const session = computed(() =>
    sessions.currentRef === null ? undefined : valueOf(sessions.sessions.get(sessions.currentRef)),
  )

  function go(name: 'ladder' | 'compare', to: Omit<Extract<RouteLocationRaw, object>, 'name'>) {
    // A report may leave the screen out.
    if (sessions.currentRef !== null && router.hasRoute(name))
      void router.push({ name, ...to } as RouteLocationRaw)
  }
  const open = (rung: string) =>
    go('ladder', { params: { sessionRef: sessions.currentRef }, query: { rung } } as object)
  const compare = (a: string, b: string) =>
    go('compare', { params: { sessionRef: sessions.currentRef, a, b } } as object)
  function compareWithBefore(rung: string): void {
    const before = session.value && rungBefore(session.value, rung)
    if (before) compare(before.id, rung)
  }
  return { focus, open, compare, compareWithBefore }
}

// Whether a session has the data of a chart, and if not, why: an empty chart would look like zeros.

export type Absence =
  /** The session's profile level does not collect these counters. */
  | { kind: 'level'; level: ProfileLevel; sessionLevel: ProfileLevel }
  /** An imported file holds only the metrics that ncu was told to collect. */
  | { kind: 'notInFile'; ncu: string[] }
  /** The session was recorded before its level collected these counters. */
  | { kind: 'older'; level: ProfileLevel }
  /** They were requested but not delivered; each reason once. */
  | { kind: 'unavailable'; reasons: Statement[] }

const rank = (level: ProfileLevel): number => profileLevels.indexOf(level)

const once = (statements: readonly Statement[]): Statement[] => [
  ...new Map(statements.map((one) => [inEnglish(one), one])).values(),
]

/** null if any rung has any of the values. */
export function absence(session: Session, ids: readonly string[]): Absence | null {
  const values = session.rungs.flatMap(({ metrics }) => ids.map((id) => metrics[id]))
  if (values.some((value) => value?.value != null)) return null
  const definitions = ids
    .map(metricDefinition)
    .filter((definition): definition is MetricDefinition => definition !== undefined)
  if (!can(session.target).knowsRun)
    return { kind: 'notInFile', ncu: definitions.flatMap(({ ncu }) => ncu[0] ?? []) }
  const level = definitions.reduce<ProfileLevel>(
    (highest, { level: own }) => (rank(own) > rank(highest) ? own : highest),
    'card',
  )
  if (rank(session.settings.profile) < rank(level))
    return { kind: 'level', level, sessionLevel: session.settings.profile }
  const profiled = session.rungs.filter(({ profile }) => profile !== null)
  const isOlder = definitions.every(({ id }) =>
    profiled.every(({ metrics }) => says(metrics[id]?.reason, 'records.notAsked')),
  )
  if (profiled.length > 0 && isOlder) return { kind: 'older', level }
  return {
    kind: 'unavailable',
    reasons: once(values.flatMap((value) => value?.reason ?? [])),
  }
}

/** The command that would collect them for this session's ladder and problem. */
export const commandFor = (session: Session, level: ProfileLevel): string =>
  runCommand(session, session.problem && session.problem.sizes, level)

// A page that draws one chart to a file: the request, and where the drawing goes.

export interface Drawing {
  /** The setting of the chart's own controls. */
  choice: string | undefined
  /** `label` has the figures in words. */
  deliver: (svg: string, label: string) => void
}

export const drawingKey: InjectionKey<Drawing> = Symbol('drawing')

/** null on every other screen. */
export const useDrawing = (): Drawing | null => inject(drawingKey, null)

/** The requested choice; undefined if the user chooses on screen. */
export function choiceOf<T extends string>(choices: readonly T[]): T | undefined {
  const asked = useDrawing()?.choice
  return choices.find((choice) => choice === asked)
}
