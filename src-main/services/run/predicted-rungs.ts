/** Predicts the times of prepared rungs and combines them with the emulation results. */
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import { KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { metricDefinition, type MetricValue } from '../../domain/metrics/metrics'
import { predictedMetrics } from '../../domain/prediction/predicted-metrics'
import { predictedProfile } from '../../domain/prediction/predicted-profile'
import type { PredictionAnswer } from '../../domain/prediction/prediction'
import type { RunPlan } from '../../domain/run/plan'
import type { DeepProfile } from '../../domain/session/deep'
import { named, sameSizes, type Problem } from '../../domain/task/problem'
import { countedRung, type CountedRung } from './counted-rung'
import { readyRung, type EmulationSettings } from './emulate'
import type { Finding, RungBuild } from './finding'
import { sharedFills } from './filled-cases'
import { extrapolated, predictedTime, sampledCounts } from './predict-rung'
import type { PredictedGpu } from './predicted-gpu'
import type { EmulationTools } from './prepared-rungs'
import { wrongness } from './wrongness'

interface ToPredict {
  plan: RunPlan
  on: PredictedGpu
  /**
   * Problem for which results are checked. `predictAt` is the problem for which the time is
   * predicted.
   */
  checkAt: Problem
  predictAt: Problem
  tools: Promise<EmulationTools>
  emulation: Omit<EmulationSettings, 'probe'>
}

interface Predicted {
  answer: PredictionAnswer
  /** Counters at the predicted size, or null if the emulator counted at the same size. */
  sampled: CountedRung | null
}

export class PredictedRungs {
  private readonly found = new Map<string, Predicted>()
  private readonly fills
  /** Whether the counters were collected with the session's problem. */
  private readonly areExact: boolean
  /** Whether the predicted problem differs from the session's problem. */
  private readonly isOther: boolean

  constructor(private readonly of: ToPredict) {
    const { plan, checkAt, predictAt, tools, emulation } = of
    this.areExact = sameSizes(checkAt.sizes, plan.problem.sizes)
    this.isOther = !sameSizes(predictAt.sizes, plan.problem.sizes)
    this.fills = sharedFills(emulation, () => tools)
  }

  /** Predicts a built rung's time. Does nothing after the run is canceled. */
  async add({ planned, outcome }: RungBuild): Promise<void> {
    const { plan, on, predictAt, tools, emulation } = this.of
    if (!outcome?.artifact || !plan.rungs.includes(planned)) return
    try {
      const { bench } = await tools
      const ready = await readyRung(bench, this.fills, planned.rung, outcome, predictAt)
      if ('reason' in ready) return
      const { values, validated } = on.parameters
      const answer = await bench.pool.predict(ready.job, {
        ...{ values, validated },
        // For a lab, skip the additional predictions that each leave out one cause, because a lab
        // needs only the time.
        removes: !this.isOther,
      })
      const counts = this.areExact ? null : await sampledCounts(bench, ready)
      const sampled = counts && countedRung(ready, outcome, counts)
      this.found.set(planned.rung.id, { answer, sampled })
    } catch (error) {
      if (!emulation.signal.aborted) throw error
      if (!(error instanceof KernelLadderError)) throw error
    }
  }

  /** Combines the emulation results with the prediction, including both deep profiles. */
  join(
    id: string,
    emulated: Finding,
    counted: DeepProfile | undefined,
  ): { finding: Finding; deep: DeepProfile | undefined } {
    const finding = this.areExact ? emulated : this.atPlanned(emulated)
    const found = this.found.get(id)
    if (!found || finding.trouble || finding.elsewhere || finding.verify?.passed === false)
      return { finding, deep: this.areExact ? counted : undefined }
    const { answer, sampled } = found
    const { predictAt } = this.of
    const time = predictedTime(answer, this.isOther ? predictAt : null)
    const predicted = 'prediction' in answer ? answer.prediction : null
    const base = sampled ? { ...finding, ...this.counters(sampled) } : finding
    const deep = sampled?.deep ?? (this.areExact ? counted : undefined)
    return {
      finding: {
        ...base,
        ...time,
        metrics: { ...base.metrics, ...(predicted && this.metricsOf(predicted.launches)) },
      },
      deep: deep && predicted ? predictedProfile(deep, predicted) : deep,
    }
  }

  /**
   * Removes a verification result for a smaller size, because it does not apply to the planned
   * problem.
   */
  private atPlanned(emulated: Finding): Finding {
    const { plan, checkAt } = this.of
    const { verify, trouble, alsoVerified = [] } = emulated
    const bad =
      trouble ?? (verify && !verify.passed ? { reason: wrongness(verify, plan.task) } : null)
    const elsewhere = bad && {
      status: trouble ? trouble.status : ('wrong' as const),
      reason: message('records.wrongAt', { at: named(checkAt.sizes), why: bad.reason }),
    }
    return {
      verify: null,
      timing: null,
      alsoVerified: [
        ...(verify || trouble?.status === 'failed'
          ? [{ problem: checkAt, verify, ...(bad ? { reason: bad.reason } : {}) }]
          : []),
        ...alsoVerified,
      ],
      ...(trouble?.status === 'unsupported' ? { trouble } : {}),
      ...(elsewhere && trouble?.status !== 'unsupported' ? { elsewhere } : {}),
      ...(emulated.elsewhere && !elsewhere ? { elsewhere: emulated.elsewhere } : {}),
    }
  }

  private counters({ launches, longest, metrics }: CountedRung): Partial<Finding> {
    return {
      launches,
      profile: { passes: 0, kernels: launches.map((launch) => ({ ...launch, passes: null })) },
      metrics: { ...extrapolated(metrics), ...derivedMetrics([longest], this.of.on.gpu) },
    }
  }

  /**
   * Returns the metrics. If the predicted problem differs from the session's problem, returns only
   * rates, each with a note that names the predicted problem.
   */
  private metricsOf(launches: Parameters<typeof predictedMetrics>[0]): Record<string, MetricValue> {
    const all = predictedMetrics(launches)
    if (!this.isOther) return all
    const reason = message('prediction.at', { at: named(this.of.predictAt.sizes) })
    return Object.fromEntries(
      Object.entries(all)
        .filter(([id]) => metricDefinition(id)?.aggregate !== 'sum')
        .map(([id, value]) => [id, { ...value, reason }]),
    )
  }
}
