/**
 * The throughput shown next to a rung's time. The figure is bytes per second for a memory-bound
 * task, and operations per second for a compute-bound task. The choice is made once per session and
 * applies to all tables.
 */
import { ceilingsOf, type Ceiling } from '../gpu/ceilings'
import { message, type AnyMessage, type Statement } from '../messages/message'
import type { MetricValue } from '../metrics/metrics'
import { flops, isTensor, leastBytes, type Problem } from '../task/problem'
import { formatPercent, formatValue } from '../metrics/units'
import { inEnglish } from '../text/english'
import type { RungResult, Session } from '../session/session'

/** The fields of a session, or of a run in progress, that determine the lead figure. */
export type LeadContext = Pick<Session, 'problem' | 'device' | 'ceilings'> & {
  ladder: Pick<Session['ladder'], 'task'>
}

export interface Lead {
  of: 'operations' | 'bytes'
  /**
   * The roof for percentages: peak memory bandwidth, or peak arithmetic throughput for this
   * problem.
   */
  roof: Ceiling
}

/**
 * Assumed ridge point, in operations per byte, of an unknown GPU. The ridge points of current GPUs
 * are near 10.
 */
const usualRidge = 10

function isBoundByMemory(
  { ladder: { task }, problem }: LeadContext,
  peak: Ceiling,
  dram: Ceiling,
): boolean {
  if (!task || !problem) return false
  const [operations, bytes] = [flops(task, problem), leastBytes(task, problem)]
  if (operations === null) return true
  if (bytes === null || bytes === 0) return false
  const ridge =
    peak.value.value === null || dram.value.value === null
      ? usualRidge
      : peak.value.value / dram.value.value
  return operations / bytes < ridge
}

export function leadOf(session: LeadContext): Lead {
  const { compute, memory } = ceilingsOf(session)
  const { task } = session.ladder
  const peak = session.problem && isTensor(task, session.problem) ? compute.tensor : compute.fp32
  return isBoundByMemory(session, peak, memory.dram)
    ? { of: 'bytes', roof: memory.dram }
    : { of: 'operations', roof: peak }
}

/**
 * Utilization metrics of the units that can bound a task. Tables show the selected metric as their
 * first counter.
 */
const pipes = {
  fp32: 'fmaUtilization',
  tensor: 'tensorUtilization',
  dram: 'dramUtilization',
} as const

export function leadPipe(context: LeadContext): (typeof pipes)[keyof typeof pipes] {
  const { ladder, problem } = context
  const isOfTensor = problem !== null && isTensor(ladder.task, problem)
  return pipes[leadOf(context).of === 'bytes' ? 'dram' : isOfTensor ? 'tensor' : 'fp32']
}

/**
 * Returns whether most rungs keep the tensor pipe busier than the FMA pipe. The result's data type
 * does not show which pipe is busier, because 3xTF32 has FP32 results.
 */
function isMostlyTensor({ rungs }: Pick<Session, 'rungs'>): boolean {
  const both = rungs.flatMap(({ metrics }) => {
    const [tensor, fma] = [metrics[pipes.tensor]?.value, metrics[pipes.fp32]?.value]
    return tensor == null || fma == null ? [] : [tensor > fma]
  })
  return both.filter(Boolean).length > both.length / 2
}

/**
 * Returns the utilization metric for tables. Falls back to FMA utilization if no rung has the
 * tensor counter, which the card level does not collect.
 */
export function leadMetric(session: LeadContext & Pick<Session, 'rungs'>): string {
  const bound = leadPipe(session)
  const id = bound === pipes.fp32 && isMostlyTensor(session) ? pipes.tensor : bound
  return session.rungs.some(({ metrics }) => metrics[id]?.value != null) ? id : pipes.fp32
}

export interface LeadFigure {
  rate: MetricValue
  /** The rate as a percentage of the roof. Null if the roof is unknown or below the rate. */
  share: number | null
  /**
   * Reason why a known roof does not limit the rate. Null if the share is known or the roof is
   * unknown.
   */
  aboveRoof: AnyMessage | null
}

/**
 * Returns a launch's minimum bytes or the task's operations, divided by the time. Returns null
 * if the time is unknown.
 */
export function leadFigure(
  session: LeadContext,
  { timing, flags }: Pick<RungResult, 'timing' | 'flags'>,
  { of, roof }: Lead = leadOf(session),
): LeadFigure | null {
  const { problem, ladder } = session
  if (!timing) return null
  const value =
    of === 'operations' ? timing.gflops : gigabytes(ladder.task, problem, flags, timing.medianMs)
  const most = roof.value.value
  return {
    rate: {
      value,
      unit: of === 'operations' ? 'GFLOP/s' : 'GB/s',
      evidence: value === null ? 'unavailable' : 'derived',
    },
    ...shareOfRoof(value, most, of === 'bytes' ? 'memory' : 'compute'),
  }
}

/**
 * Returns a rate as a percentage of its roof. A roof below the rate is not a limit, so shares never
 * exceed 100 %.
 */
export function shareOfRoof(
  rate: number | null,
  roof: number | null,
  bound: 'memory' | 'compute' | null,
): Pick<LeadFigure, 'share' | 'aboveRoof'> {
  if (rate === null || roof === null) return { share: null, aboveRoof: null }
  const share = (100 * rate) / roof
  return share <= 100
    ? { share, aboveRoof: null }
    : {
        share: null,
        aboveRoof: message(bound === 'memory' ? 'figures.aboveMemory' : 'figures.abovePeak'),
      }
}

function gigabytes(
  task: LeadContext['ladder']['task'],
  problem: Problem | null,
  flags: readonly string[],
  ms: number,
): number | null {
  const bytes = task && problem ? leastBytes(task, { ...problem, flags }) : null
  return bytes === null ? null : bytes / (ms * 1e6)
}

/** Returns a rate such as `3.91 TB/s`, or an empty string if the rung has no time. */
export const rateText = (figure: Pick<LeadFigure, 'rate'> | null): string =>
  figure?.rate.value == null ? '' : formatValue(figure.rate.value, figure.rate.unit)

/**
 * Returns the rate as text. For a memory-bound task, the text is `3.91 TB/s (81.5 % of DRAM)`, or
 * states why the share is missing. For a compute-bound task, the text is `42.1 TFLOP/s`.
 */
export function leadWords(
  session: LeadContext,
  rung: Pick<RungResult, 'timing' | 'flags'>,
): Statement {
  const lead = leadOf(session)
  const figure = leadFigure(session, rung, lead)
  const rate = rateText(figure)
  if (lead.of === 'operations' || rate === '') return rate
  if (figure?.aboveRoof) return message('figures.rateWhy', { rate, why: figure.aboveRoof })
  const share = shareText(figure)
  return share === '' ? rate : message('figures.rateOfDram', { rate, share })
}

export const leadText = (
  session: LeadContext,
  rung: Pick<RungResult, 'timing' | 'flags'>,
): string => inEnglish(leadWords(session, rung))

export const shareText = (figure: Pick<LeadFigure, 'share'> | null): string =>
  figure?.share == null ? '' : formatPercent(figure.share)
