/** Builds every tooltip that explains where a value comes from. */
import { t } from '../../ui/words'
import { metricDefinition, type MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { RungResult, Session, Timing } from '../../../src-main/domain/session/session'
import { leadFigure, leadOf, shareText } from '../../../src-main/domain/analysis/lead-figure'
import { ownGpuMs } from '../../../src-main/domain/analysis/time-notes'
import { ratioWarning } from '../../../src-main/domain/analysis/comparability'
import { message } from '../../../src-main/domain/messages/message'
import { figureText, fixed, spreadText } from '../../ui/format'
import { useStatement } from '../../ui/statement'
import type { TipContent } from '../../ui/tip'
import { throttleStatement } from '../../../src-main/domain/report/gpu-state-words'
import { useMetricWords } from './use-metric-words'

export function useProvenance() {
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
    if (value.evidence === 'predicted') {
      const origin = t('provenance.predicted', { name: ncuNames(id) })
      return value.reason ? `${origin} ${text(value.reason)}` : origin
    }
    if (value.evidence === 'derived' && value.reason) return text(value.reason)
    const key = value.evidence === 'derived' ? 'derived' : 'measured'
    const passes = rung.profile?.passes ?? 0
    const ncu = session.tools.ncu ?? ''
    const name = ncuNames(id)
    return t(`provenance.${key}`, { ncu, passes, name })
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
    if (rung.predicted) return { lines: [t('predicted.tip', { model: rung.predicted.model })] }
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

  /** Returns the measurement conditions that a reader needs to judge a time. */
  function conditionLines(timing: Timing): string[] {
    const { emptyMs, late, includesHost, gpu } = timing
    const own = ownGpuMs(timing)
    const throttles = throttleStatement(gpu)
    return [
      ...(own === null ? [] : [t('provenance.gpuOwn', { ms: figureText(own, 'ms') })]),
      ...(emptyMs == null ? [] : [t('provenance.empty', { ms: figureText(emptyMs, 'ms') })]),
      ...(includesHost ? [t('provenance.includesHost')] : []),
      ...(late ? [t('provenance.late', { n: late })] : []),
      ...(throttles === null ? [] : [text(throttles)]),
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
    const throttles = throttleStatement(gpu)
    return {
      title: figureText(medianMs, 'ms'),
      lines: [
        t('provenance.sustained', { seconds, spread: spreadText(spread) }),
        ...besideLines(referenceMedianMs),
        ...(throttles === null ? [] : [text(throttles)]),
      ],
    }
  }

  const besideLines = (ms: number | null): string[] =>
    ms === null ? [] : [t('provenance.referenceToo', { ms: figureText(ms, 'ms') })]

  /** Returns a tooltip that explains a program's kernel time. */
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

  /** Returns a tooltip that explains the main value in a session's table. */
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
