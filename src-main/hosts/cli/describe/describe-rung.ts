/**
 * Prints one rung in detail as terminal text: its bottleneck, hot lines, instructions, and ncu's
 * advice.
 */
import type {
  Bottleneck,
  BottleneckClass,
  BottleneckEvidence,
  Derivation,
} from '../../../domain/analysis/bottleneck'
import { cycleLines } from '../../../domain/analysis/predicted-figures'
import { ratioWarning } from '../../../domain/analysis/comparability'
import { compareRungs, isPredicted } from '../../../domain/analysis/compare'
import {
  lineHeat,
  opcodeHistogram,
  stallHistogram,
  type DeepProfile,
  type HistogramDelta,
  type LineHeat,
  type Rule,
} from '../../../domain/session/deep'
import { leadText } from '../../../domain/analysis/lead-figure'
import type { Statement } from '../../../domain/messages/message'
import { inEnglish } from '../../../domain/text/english'
import { metricDefinition } from '../../../domain/metrics/metrics'
import { worksOnTensor } from '../../../domain/analysis/roofline'
import { rungBefore, type RungResult, type Session } from '../../../domain/session/session'
import { formatCount, formatMs, formatPercent, formatValue } from '../../../domain/metrics/units'
import { isEmulated } from '../../../domain/targets/targets'
import { describeOrigin } from './describe-ladder'
import { describePrediction, predictedText } from './describe-predicted'
import { metric, none } from './figure'
import { table } from '../table'
import { mixOf } from '../../../domain/analysis/executed-mix'
import { describeExpectation } from './describe-comparison'

const shownLines = 10
const shownOpcodes = 12

const bottleneckWords: Record<BottleneckClass, string> = {
  tail: 'the last wave: part of the GPU is idle',
  tensor: 'the tensor pipe',
  'fma-issue': 'instruction issue: the FMA pipe or the issue slots are saturated',
  'lsu-mio':
    'loads and stores (LSU, MIO): shared memory, or the queue in front of it, is saturated',
  'l1-bandwidth': 'the L1 cache',
  'l2-bandwidth': 'the L2 cache',
  'dram-bandwidth': 'device memory',
  latency: 'stalls: no unit is near its limit',
  unknown: 'unknown',
}

const labelOf = (id: string): string => metricDefinition(id)?.label ?? id

const shortList = (words: readonly string[]): string =>
  words.length <= 4
    ? words.join(', ')
    : `${words.slice(0, 3).join(', ')} and ${words.length - 3} more counters`

const percent = (share: number): string => formatPercent(100 * share)

function describeDerivation(how: Derivation): string {
  switch (how.kind) {
    case 'dram-traffic':
      return `traffic over the measured time, relative to ${Math.round(how.ceilingGBs)} GB/s`
    case 'tail':
      return `${percent(how.efficiency)} of the slots of ${how.wholeWaves} full ${how.wholeWaves === 1 ? 'wave' : 'waves'} in use, assuming that all blocks take equally long`
    case 'stall-share':
      return `${how.metrics.map(labelOf).join(' and ')}, as a share of all warp states`
  }
}

function describeEvidence({
  label,
  value,
  unit,
  threshold,
  side,
  how,
}: BottleneckEvidence): string {
  const sign = side === 'above' ? '≥' : '<'
  const limit = threshold > 0 ? ` (${sign} ${formatValue(threshold, unit)})` : ''
  return `  ${label}: ${formatValue(value, unit)}${limit}${how ? `: ${describeDerivation(how)}` : ''}`
}

function describeBottleneck({ target }: Session, found: Bottleneck | null): string[] {
  if (!found)
    return [
      `Limited by: unknown (${isEmulated(target) ? 'emulated, so not timed' : 'not profiled'})`,
    ]
  const { class: name, also, leaning, evidence, missing } = found
  const named = (one: BottleneckClass): string =>
    `${bottleneckWords[one]}${one === 'unknown' ? '' : ` (${one})`}`
  return [
    `${leaning ? 'Leaning toward' : 'Limited by'}: ${named(name)}`,
    ...(also.length > 0 ? [`  together with: ${also.map(named).join('; ')}`] : []),
    ...evidence.map(describeEvidence),
    ...(name === 'unknown'
      ? [`  Missing: ${shortList(missing.map(labelOf))}. \`--profile standard\` collects them.`]
      : []),
  ]
}

/** Describes the rung's instruction mix per thread. The largest category comes first. */
function describeMix(session: Session, rung: RungResult): string[] {
  const mix = mixOf(rung)
  if (!mix) return []
  const share = (count: number): string => percent(count / mix.whole)
  const kinds = Object.entries(mix.kinds)
    .sort(([, a], [, b]) => b - a)
    .filter(([, count]) => count > 0)
    // Shortens `Thread instructions: FP32` to `FP32`.
    .map(([id, count]) => `${labelOf(id).replace(/^.*: /, '')} ${share(count)}`)
  const operations = rung.metrics['fp32Operations']?.value
  return [
    `Thread instructions, as a share of ${formatCount(mix.whole)} (32 lanes per warp instruction):`,
    `  ${[...kinds, `tensor, uncategorized or inactive lanes ${share(mix.none)}`].join(', ')}`,
    ...(operations == null
      ? []
      : [
          `  FP32 operations: ${formatValue(operations, 'FLOP')}${worksOnTensor(session, rung) ? '; the tensor pipe does the work, which is not included' : ''}`,
        ]),
  ]
}

/**
 * Counters used to rank lines, and their columns. The ranking uses samples if available. Without
 * samples, as on an emulated GPU, the ranking uses the first of the following counters that is not
 * zero.
 */
const rankings = [
  { by: 'samples', heading: 'Source lines by warp samples:', column: 'samples' },
  {
    by: 'sharedWavefrontsExcess',
    heading: 'Source lines by shared-memory wavefronts beyond the ideal (bank conflicts):',
    column: 'share',
  },
  {
    by: 'globalL2SectorsExcess',
    heading: 'Source lines by sectors beyond the ideal:',
    column: 'share',
  },
  { by: 'executed', heading: 'Source lines by instructions executed:', column: 'share' },
] as const

function describeLines(profile: DeepProfile): string[] {
  const ranking = rankings.find(({ by }) => lineHeat(profile, by).length > 0)
  if (!ranking) return describeInstructions(profile)
  const hot = lineHeat(profile, ranking.by).slice(0, shownLines)
  const shared = new Map(
    lineHeat(profile, 'sharedWavefrontsExcess').map((line) => [`${line.file}:${line.line}`, line]),
  )
  const sectors = new Map(
    lineHeat(profile, 'globalL2SectorsExcess').map((line) => [`${line.file}:${line.line}`, line]),
  )
  const excess = (of: Map<string, LineHeat>, { file, line }: LineHeat): string => {
    const found = of.get(`${file}:${line}`)
    return found ? formatCount(found.value) : none
  }
  return [
    ranking.heading,
    table(hot, [
      { header: ranking.column, cell: ({ share }) => percent(share) },
      { header: 'excess shared', cell: (line) => excess(shared, line) },
      { header: 'excess sectors', cell: (line) => excess(sectors, line) },
      { header: 'line', align: 'left', cell: ({ file, line }) => `${file}:${line}` },
      { header: '', align: 'left', cell: ({ text }) => (text ?? '').trim().slice(0, 90) },
    ]),
  ]
}

/**
 * Lists individual instructions for machine code without line information, such as library code.
 */
function describeInstructions(profile: DeepProfile): string[] {
  const all = profile.kernels.flatMap((kernel) => kernel.instructions)
  const total = all.reduce((sum, { samples }) => sum + (samples ?? 0), 0)
  if (total === 0) return ['No instruction has any samples.']
  const hot = [...all].sort((a, b) => (b.samples ?? 0) - (a.samples ?? 0)).slice(0, shownLines)
  return [
    'Instructions by warp samples (no line information):',
    table(hot, [
      { header: 'samples', cell: ({ samples }) => percent((samples ?? 0) / total) },
      { header: 'executed', cell: ({ executed }) => formatCount(executed ?? 0) },
      { header: 'at', cell: ({ offset }) => `0x${offset.toString(16)}` },
      { header: '', align: 'left', cell: ({ text }) => text },
    ]),
  ]
}

function describeHistogram(
  title: string,
  histogram: Record<string, number> | null,
  otherwise: string,
): string[] {
  if (!histogram) return [otherwise]
  const total = Object.values(histogram).reduce((sum, value) => sum + value, 0)
  const rows = Object.entries(histogram).sort(([, a], [, b]) => b - a)
  return [
    `${title} (${formatCount(total)} in total):`,
    table(rows.slice(0, shownOpcodes), [
      { header: '', cell: ([, value]) => percent(value / total) },
      { header: '', cell: ([, value]) => formatCount(value) },
      { header: '', align: 'left', cell: ([name]) => name },
    ]),
    ...(rows.length > shownOpcodes ? [`  and ${rows.length - shownOpcodes} more`] : []),
  ]
}

const speedup = ({ estimatedSpeedup, speedupType }: Rule): string =>
  estimatedSpeedup === null
    ? ''
    : ` (${speedupType ?? 'estimated'} speedup of ${formatPercent(estimatedSpeedup)}, according to ncu)`

function describeRules(profile: DeepProfile): string[] {
  const rules = profile.kernels
    .flatMap((kernel) => kernel.rules)
    .filter(({ kind }) => kind !== 'info')
    .sort((a, b) => (b.estimatedSpeedup ?? 0) - (a.estimatedSpeedup ?? 0))
  if (rules.length === 0) return ['ncu has no advice.']
  return [
    'Advice from ncu:',
    ...rules.map((rule) => `  ${rule.name}${speedup(rule)}\n    ${rule.text}`),
  ]
}

/** Describes how warps spend their cycles, as predicted by the timing model. */
function describeCycles(profile: DeepProfile): string[] {
  const lines = cycleLines(profile).slice(0, shownLines)
  if (lines.length === 0) return ['No cycles are predicted for its source lines.']
  return [
    'Source lines by the predicted cycles of warps:',
    table(lines, [
      { header: '', cell: ({ share }) => `  ${percent(share)}` },
      { header: '', align: 'left', cell: ({ file, line }) => `${file}:${line}` },
      { header: '', align: 'left', cell: ({ text }) => (text ?? '').trim() },
    ]),
  ]
}

/**
 * Describes the changes that a rung's header expects relative to the previous rung, and the
 * measured changes.
 */
function describeExpected(session: Session, rung: RungResult): string[] {
  const before = rungBefore(session, rung.id)
  if (!before || !isPredicted(before, rung)) return []
  const { metrics } = compareRungs({ session, rung: before }, { session, rung })
  const rows = metrics.filter(({ expected }) => expected !== null)
  // The comparison has no row for a metric that the session's profile level does not collect.
  const absent = rung.expect.filter(({ metric }) => !rows.some(({ id }) => id === metric))
  return [
    `Expected relative to ${before.id}:`,
    table(rows, [
      { header: '', align: 'left', cell: ({ label }) => `  ${label}` },
      { header: '', align: 'left', cell: describeExpectation },
      { header: '', cell: ({ a }) => metric(a ?? undefined) },
      { header: '', align: 'left', cell: ({ b }) => `→ ${metric(b ?? undefined)}` },
    ]),
    ...absent.map(
      ({ metric: id, direction }) =>
        `  ${labelOf(id)} ${direction}: not collected; --profile ${metricDefinition(id)?.level} collects it.`,
    ),
  ]
}

/** Describes a rung. Below the deep profile level, `profile` is null. */
export function describeRung(
  session: Session,
  rung: RungResult,
  bottleneck: Bottleneck | null,
  profile: DeepProfile | null,
): string {
  const time = rung.timing
    ? [formatMs(rung.timing.medianMs), leadText(session, rung)].filter(Boolean).join(', ')
    : predictedText(rung) || `${rung.status}. ${inEnglish(rung.reason ?? '')}`.trim()
  const note = session.ladder.rungs.find(({ id }) => id === rung.id)?.note
  const more = ratioWarning(session, rung)
  return [
    describeOrigin(session),
    `${rung.id} (${rung.title}): ${time}`,
    rung.idea,
    ...(note ? [note] : []),
    ...(more ? [inEnglish(more)] : []),
    ...describeExpected(session, rung),
    ...(session.prediction
      ? describePrediction(rung, profile)
      : describeBottleneck(session, bottleneck)),
    ...describeMix(session, rung),
    ...(profile
      ? [
          '',
          ...describeLines(profile),
          '',
          ...describeHistogram(
            'Warp instructions executed',
            opcodeHistogram(profile),
            'Instructions were not counted.',
          ),
          '',
          ...(session.prediction
            ? describeCycles(profile)
            : describeHistogram(
                'Warp samples by warp state',
                stallHistogram(profile),
                'Warps were not sampled.',
              )),
          '',
          ...(isEmulated(session.target) || session.prediction ? [] : describeRules(profile)),
          ...profile.notes.map((note) => `note: ${inEnglish(note)}`),
        ]
      : [
          'Source lines, instructions and advice require a session profiled at the deep level (--profile deep).',
        ]),
  ].join('\n')
}

/** Describes the machine code of two rungs side by side. */
export function describeMachineCode({
  identicalSass,
  opcodes,
  stalls,
  noStalls,
}: {
  identicalSass: boolean | null
  opcodes: HistogramDelta[] | null
  stalls: HistogramDelta[] | null
  noStalls: Statement | null
}): string {
  const changed = (opcodes ?? []).filter(({ delta }) => delta !== 0).slice(0, shownOpcodes)
  const waits = (stalls ?? []).slice(0, 6)
  return [
    '',
    identicalSass === null
      ? 'The machine code of at least one rung is unknown.'
      : identicalSass
        ? 'Both rungs run the same machine code.'
        : 'The machine code differs.',
    ...(changed.length > 0
      ? [
          'Warp instructions executed:',
          table(changed, [
            { header: '', align: 'left', cell: ({ key }) => `  ${key}` },
            { header: 'a', cell: ({ a }) => formatCount(a) },
            { header: 'b', cell: ({ b }) => formatCount(b) },
            {
              header: 'b − a',
              cell: ({ delta }) => `${delta > 0 ? '+' : '−'}${formatCount(Math.abs(delta))}`,
            },
          ]),
        ]
      : []),
    ...(noStalls ? [inEnglish(noStalls)] : []),
    ...(waits.length > 0
      ? [
          'Warp samples, as a share of each rung’s total:',
          table(waits, [
            { header: '', align: 'left', cell: ({ key }) => `  ${key}` },
            { header: 'a', cell: ({ shareA }) => percent(shareA) },
            { header: 'b', cell: ({ shareB }) => percent(shareB) },
          ]),
        ]
      : []),
  ].join('\n')
}
