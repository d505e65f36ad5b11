/**
 * The throughput that a rung is told by beside its time: bytes a second where its task is bound by memory,
 * operations a second where it is bound by arithmetic. One decision a session, for every table of it. Pure.
 */
import { ceilingsOf, type Ceiling } from '../gpu/ceilings'
import type { MetricValue } from '../metrics/metrics'
import { flops, isTensor, leastBytes, type Problem } from '../task/problem'
import { formatPercent, formatValue } from '../metrics/units'
import type { RungResult, Session } from '../session/session'

type Told = Pick<Session, 'problem' | 'device' | 'ceilings'> & {
  ladder: Pick<Session['ladder'], 'task'>
}

export interface Lead {
  of: 'operations' | 'bytes'
  /** The roof that a share is of: what memory, or the arithmetic of this problem, reaches at best. */
  roof: Ceiling
}

/** Operations a byte at which arithmetic takes over, of a GPU that is not known: about those of today. */
const usualRidge = 10

function isBoundByMemory(
  { ladder: { task }, problem }: Told,
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

export function leadOf(session: Told): Lead {
  const { compute, memory } = ceilingsOf(session)
  const { task } = session.ladder
  const peak = session.problem && isTensor(task, session.problem) ? compute.tensor : compute.fp32
  return isBoundByMemory(session, peak, memory.dram)
    ? { of: 'bytes', roof: memory.dram }
    : { of: 'operations', roof: peak }
}

/** What the arithmetic, or the memory, that a task is bound by is busy for; the counter that tables begin with. */
const pipes = {
  fp32: 'fmaUtilization',
  tensor: 'tensorUtilization',
  dram: 'dramUtilization',
} as const

/** FMA's where no rung has a figure of the counter that would say more: the card's level has no other. */
export function leadMetric(session: Told & Pick<Session, 'rungs'>): string {
  const { ladder, problem } = session
  const isOfTensor = problem !== null && isTensor(ladder.task, problem)
  const id = pipes[leadOf(session).of === 'bytes' ? 'dram' : isOfTensor ? 'tensor' : 'fp32']
  return session.rungs.some(({ metrics }) => metrics[id]?.value != null) ? id : pipes.fp32
}

export interface LeadFigure {
  rate: MetricValue
  /** Of the roof, in percent; null where that is not known. */
  share: number | null
}

/** The least bytes of a launch, or the task's operations, over the time; null without a time. */
export function leadFigure(
  session: Told,
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
    share: value === null || most === null ? null : (100 * value) / most,
  }
}

function gigabytes(
  task: Told['ladder']['task'],
  problem: Problem | null,
  flags: readonly string[],
  ms: number,
): number | null {
  const bytes = task && problem ? leastBytes(task, { ...problem, flags }) : null
  return bytes === null ? null : bytes / (ms * 1e6)
}

/** `3.91 TB/s`; empty for a rung without a time. */
export const rateText = (figure: LeadFigure | null): string =>
  figure?.rate.value == null ? '' : formatValue(figure.rate.value, figure.rate.unit)

/** `3.91 TB/s (81.5 % of DRAM)` where memory bounds the task, `42.1 TFLOP/s` where arithmetic does. */
export function leadText(session: Told, rung: Pick<RungResult, 'timing' | 'flags'>): string {
  const lead = leadOf(session)
  const figure = leadFigure(session, rung, lead)
  const share = lead.of === 'bytes' ? shareText(figure) : ''
  return `${rateText(figure)}${share && ` (${share} of DRAM)`}`
}

export const shareText = (figure: LeadFigure | null): string =>
  figure?.share == null ? '' : formatPercent(figure.share)
