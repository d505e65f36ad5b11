/** Metrics wherever they are listed: their grouping and order, their words, a rung's times in the same form, and where a figure comes from. */
import { useI18n } from 'vue-i18n'
import { metricGroups, type MetricGroup } from '../../src-main/domain/metrics/metric-definition'
import {
  metricDefinition,
  metricDefinitions,
  type MetricValue,
} from '../../src-main/domain/metrics/metrics'
import type { CacheState, RungResult, Session, Timing } from '../../src-main/domain/session/session'
import { leadFigure, leadOf, shareText } from '../../src-main/domain/analysis/lead-figure'
import { ownGpuMs } from '../../src-main/domain/analysis/time-notes'
import { heldDown } from '../../src-main/domain/report/provenance'
import { ratioWarning } from '../../src-main/domain/analysis/comparability'
import { message } from '../../src-main/domain/messages/message'
import { figureText, fixed, spreadText } from '../ui/format'
import { useStatement } from '../ui/statement'
import type { TipContent } from '../ui/tip'

// Metrics wherever they are listed: their grouping and order, their words, and a rung's times in the same form.

// The grouping and order of metrics wherever they are listed.

export type MetricGroupId = MetricGroup | 'other'

/** The given ids in the registry's groups and order; unknown ones come last. */
export function groupMetrics(
  ids: readonly string[],
): { id: MetricGroupId; metrics: readonly string[] }[] {
  const known = metricDefinitions.filter(({ id }) => ids.includes(id))
  return [
    ...metricGroups.map((id) => ({
      id,
      metrics: known.filter(({ group }) => group === id).map((metric) => metric.id),
    })),
    { id: 'other' as const, metrics: ids.filter((id) => !metricDefinition(id)) },
  ].filter(({ metrics }) => metrics.length > 0)
}

// A metric's label and meaning in the current language. The registry has the English ones; the other
// locales have theirs under `metrics.<id>`.

export function useMetricWords() {
  const { t, te } = useI18n()
  const word = (id: string, part: 'label' | 'meaning'): string | undefined => {
    const key = `metrics.${id}.${part}`
    return te(key) ? t(key) : metricDefinition(id)?.[part]
  }
  const metricLabel = (id: string): string => word(id, 'label') ?? id
  return {
    /** The id itself if the registry does not know it. */
    metricLabel,
    /** `Stalled: barrier` → `barrier`, for contexts that imply the rest. */
    kindLabel: (id: string): string => metricLabel(id).replace(/^[^:：]*[:：]\s*/, ''),
    metricMeaning: (id: string): string | undefined => word(id, 'meaning'),
  }
}

// A rung's times with unit and origin, in the same form as the session's metrics.

/** Of a kernel that nothing else timed, all of its launches under ncu. */
export function timeFigure({ timing, profiledTime }: RungResult): MetricValue | null {
  const ms = timing?.medianMs ?? profiledTime?.totalMs
  return ms === undefined ? null : { value: ms, unit: 'ms', evidence: 'measured' }
}

export const throughputFigure = (rung: RungResult): MetricValue | null =>
  rung.timing && {
    value: rung.timing.gflops,
    unit: 'GFLOP/s',
    evidence: rung.timing.gflops === null ? 'unavailable' : 'derived',
  }

export const ratioFigure = (rung: RungResult): MetricValue | null =>
  rung.timing && {
    value: rung.timing.ratioToReference,
    unit: '×',
    evidence: rung.timing.ratioToReference === null ? 'unavailable' : 'derived',
  }

/** The time of a program's kernels under ncu. */
export function gpuTimeFigure({ profiledTime }: RungResult): MetricValue | null {
  return profiledTime ? { value: profiledTime.totalMs, unit: 'ms', evidence: 'measured' } : null
}

/** `L2 cold`. */
export function useCacheText() {
  const { t } = useI18n()
  const { text } = useStatement()
  return (state: CacheState): string =>
    t('ladder.cacheState', { state: text(message(`cacheState.${state}`)) })
}

// Where a figure comes from, in words; every tooltip that explains a number is made here.

export function useProvenance() {
  const { t } = useI18n()
  const { text } = useStatement()
  const { metricLabel, metricMeaning } = useMetricWords()

  const ncuNames = (id: string): string => metricDefinition(id)?.ncu.join(t('provenance.or')) ?? id

  function metricOrigin(session: Session, rung: RungResult, id: string, value: MetricValue | null) {
    if (!value) return t('provenance.absent', { level: session.settings.profile })
    if (value.value === null)
      return t('provenance.unavailable', {
        reason: value.reason ? text(value.reason) : t('provenance.noReason'),
      })
    if (value.evidence === 'emulated') return t('provenance.emulated', { name: ncuNames(id) })
    if (value.evidence === 'derived' && value.reason) return text(value.reason)
    const key = value.evidence === 'derived' ? 'derived' : 'measured'
    const passes = rung.profile?.passes ?? 0
    const ncu = session.tools.ncu ?? ''
    const name = ncuNames(id)
    return t(`provenance.${key}`, { ncu, passes, name }, passes)
  }

  function metricTip(session: Session, rung: RungResult, id: string): TipContent {
    const value = rung.metrics[id] ?? null
    const meaning = metricMeaning(id)
    const exact =
      value && value.value !== null
        ? [`${fixed(value.value, Number.isInteger(value.value) ? 0 : 2)} ${value.unit}`]
        : []
    return {
      title: metricLabel(id),
      lines: [
        ...exact,
        ...(meaning === undefined ? [] : [meaning]),
        metricOrigin(session, rung, id, value),
      ],
    }
  }

  function metricHeaderTip(id: string): TipContent {
    const definition = metricDefinition(id)
    if (!definition) return { lines: [id] }
    return {
      title: metricLabel(id),
      lines: [
        metricMeaning(id) ?? definition.meaning,
        t(`provenance.better.${definition.better}`),
        ...(definition.derived
          ? [text(message(definition.derived.how))]
          : [t('provenance.ncuNames', { name: ncuNames(id) })]),
      ],
    }
  }

  function timeTip(rung: RungResult): TipContent {
    if (!rung.timing) return { lines: [rung.reason ? text(rung.reason) : t('provenance.noTime')] }
    const { timing } = rung
    if (rung.program)
      return {
        title: figureText(timing.medianMs, 'ms'),
        lines: [
          t('ladder.program.wallTip', {
            samples: timing.samples,
            spread: spreadText(timing.spread),
          }),
        ],
      }
    return {
      title: figureText(timing.medianMs, 'ms'),
      lines: [
        t('provenance.time', { samples: timing.samples, spread: spreadText(timing.spread) }),
        timing.settled ? t('provenance.settled') : t('provenance.unsettled'),
        t(`provenance.l2.${timing.cacheState}`),
        ...conditionLines(timing),
      ],
    }
  }

  /** What else a reader must know about a time. */
  function conditionLines(timing: Timing): string[] {
    const { emptyMs, late, includesHost, gpu } = timing
    const own = ownGpuMs(timing)
    const held = heldDown(gpu)
    return [
      ...(own === null ? [] : [t('provenance.gpuOwn', { ms: figureText(own, 'ms') })]),
      ...(emptyMs == null ? [] : [t('provenance.empty', { ms: figureText(emptyMs, 'ms') })]),
      ...(includesHost ? [t('provenance.includesHost')] : []),
      ...(late ? [t('provenance.late', { n: late }, late)] : []),
      ...(held === null ? [] : [text(held)]),
    ]
  }

  function burstTip({ timing }: RungResult): TipContent {
    if (!timing?.burst) return { lines: [t('provenance.noTime')] }
    const { medianMs, launches, restSeconds, referenceMedianMs } = timing.burst
    return {
      title: figureText(medianMs, 'ms'),
      lines: [
        t('provenance.burst', { launches, seconds: restSeconds }),
        ...besideLines(referenceMedianMs),
      ],
    }
  }

  function sustainedTip({ timing }: RungResult): TipContent {
    if (!timing?.sustained) return { lines: [t('provenance.noTime')] }
    const { medianMs, seconds, spread, referenceMedianMs, gpu } = timing.sustained
    const held = heldDown(gpu)
    return {
      title: figureText(medianMs, 'ms'),
      lines: [
        t('provenance.sustained', { seconds, spread: spreadText(spread) }),
        ...besideLines(referenceMedianMs),
        ...(held === null ? [] : [text(held)]),
      ],
    }
  }

  const besideLines = (ms: number | null): string[] =>
    ms === null ? [] : [t('provenance.referenceToo', { ms: figureText(ms, 'ms') })]

  /** Of a program's kernels. */
  function gpuTimeTip({ profile, profiledTime }: RungResult): TipContent {
    if (!profiledTime) return { lines: [t('ladder.program.noGpu')] }
    const { launches } = profiledTime
    const kernels = profile?.kernels.length ?? 0
    return {
      title: figureText(profiledTime.totalMs, 'ms'),
      lines: [t('ladder.program.gpuTip', { launches, kernels })],
    }
  }

  const throughputTip = (rung: RungResult): TipContent =>
    rung.timing?.gflops != null
      ? {
          title: figureText(rung.timing.gflops, 'GFLOP/s'),
          lines: [t('provenance.throughput')],
        }
      : { lines: [rung.reason ? text(rung.reason) : t('provenance.noTime')] }

  /** Of what a table of the session leads with. */
  function rateTip(session: Session, rung: RungResult): TipContent {
    const lead = leadOf(session)
    if (lead.of === 'operations') return throughputTip(rung)
    const figure = leadFigure(session, rung, lead)
    if (figure?.rate.value == null)
      return { lines: [rung.reason ? text(rung.reason) : t('provenance.noTime')] }
    const share = shareText(figure)
    return {
      title: figureText(figure.rate.value, 'GB/s'),
      lines: [
        t('provenance.bandwidth'),
        ...(share ? [t('provenance.bandwidthShare', { share })] : []),
        ...(figure.aboveRoof ? [t('provenance.aboveRoof', { why: text(figure.aboveRoof) })] : []),
      ],
    }
  }

  function ratioTip(session: Session, rung: RungResult): TipContent {
    const reference = session.ladder.reference
    const more = ratioWarning(session, rung)
    if (rung.timing?.ratioToReference == null) return { lines: [t('provenance.noReference')] }
    return {
      lines: [
        t('provenance.ratio', {
          reference,
          ms: figureText(rung.timing.referenceMedianMs ?? 0, 'ms'),
        }),
        ...(more ? [text(more)] : []),
      ],
    }
  }

  return {
    ...{ metricTip, metricHeaderTip, timeTip, burstTip, sustainedTip, gpuTimeTip },
    ...{ throughputTip, rateTip, ratioTip },
  }
}
