/** Tables of documents that follow from what ships: ladders and their best rungs, causes of steps, and what the emulator counts. */
import { join } from 'node:path'
import { readdirSync, readFileSync } from 'node:fs'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/journal'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { leadFigure, leadOf, leadPipe, rateText } from '../../src-main/domain/analysis/lead-figure'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'
import {
  formatMs,
  formatPercent,
  formatRatio,
  formatValue,
} from '../../src-main/domain/metrics/units'
import type { Session } from '../../src-main/domain/session/session'
import { LadderFile, type Published } from '../../src-main/domain/ladder/ladder'
import { problemWord, sameSizes } from '../../src-main/domain/task/problem'
import { md, mdTable, details, mdHtml, mdSentence } from '../../src-main/domain/text/tables'
import { code } from '../../src-main/domain/messages/message'
import { whyOfSteps, type WhyStep } from '../../src-main/domain/why/why'
import { inEnglish } from '../../src-main/domain/text/text'
import { printedCauses } from '../../src-main/services/report/comparison'
import {
  captures,
  compareKernels,
  counted,
  emulate,
  readCapture,
  unequalOf,
  type Capture,
  type CapturedRung,
  type Counted,
  type KernelComparison,
} from '../../test/emulated-captures'

// The table of all ladders in docs/RESULTS.md: the best rung of each recording.

export interface RecordedSession {
  recording: string
  session: Session
}

/** Every recording of a ladder of kernels, in the order of names; the deep ones show what their others show. */
export async function recordedLadders(recordings: string): Promise<RecordedSession[]> {
  const names = (await sharingSessions(join(recordings, sharedSessions))).sort()
  const all = await Promise.all(
    names.map(async (recording) => ({
      recording,
      session: await readSession(join(recordings, recording)),
    })),
  )
  return all.filter(
    ({ session }) => session.problem !== null && session.settings.profile !== 'deep',
  )
}

/** The fastest rung that is not the reference: a library is what a ladder climbs to. */
const bestOf = ({ ladder, rungs }: Session): Session['rungs'][number] | undefined =>
  rungs
    .filter(({ id, status, timing }) => status === 'ok' && timing && id !== ladder.reference)
    .sort((a, b) => a.timing!.medianMs - b.timing!.medianMs)[0]

/** `, causal 1`: scalars that are not the task's own, as two recordings of one size may differ by. */
const unusual = ({ problem, ladder }: Session): string =>
  Object.entries(problem?.scalars ?? {})
    .filter(([name, value]) => ladder.task?.scalars[name]?.value !== value)
    .map(([name, value]) => `, ${name} ${value}`)
    .join('')

const usesTensorCores = ({ metrics }: Session['rungs'][number]): boolean =>
  (metrics['tensorUtilization']?.value ?? 0) >= 1

/** `onTensorCores` has the ids of rungs that ran there in any recording: not every level of counters tells. */
function cells(
  { recording, session }: RecordedSession,
  onTensorCores: ReadonlySet<string>,
): string[] {
  const best = bestOf(session)
  if (!best?.timing || !session.problem) throw new Error(`${recording} has no rung with a time.`)
  const figure = leadFigure(session, best)
  const { value: roof } = leadOf(session).roof
  // FP32 results may come from tensor cores, which the FP32 pipe's peak says nothing of.
  const pipe = onTensorCores.has(best.id) ? 'tensorUtilization' : leadPipe(session)
  const hasRoof = pipe === leadPipe(session)
  const busy = best.metrics[pipe]?.value
  const { ratioToReference } = best.timing
  const { reference } = session.ladder
  return [
    md(`${session.ladder.title}, ${problemWord(session.problem)}${unusual(session)}`),
    `\`${best.id}\``,
    formatMs(best.timing.medianMs),
    best.timing.cacheState,
    rateText(figure),
    ratioToReference != null
      ? formatRatio(ratioToReference)
      : reference === null
        ? 'none recorded'
        : '–',
    !hasRoof
      ? 'FP32 from tensor cores'
      : figure?.share == null || roof.value === null
        ? figure?.aboveRoof
          ? inEnglish(figure.aboveRoof)
          : '–'
        : `${formatPercent(figure.share)} of ${formatValue(roof.value, roof.unit)}, ${roof.evidence}`,
    busy == null ? '–' : `${metricDefinition(pipe)!.label} ${formatPercent(busy)}`,
    `\`recorded:${recording}\``,
  ]
}

const headers = [
  'ladder',
  'best rung',
  'time',
  'L2',
  'rate',
  'to its library',
  'of the limit',
  'busy',
  'shown by',
]

/** The table of all recordings, for docs/RESULTS.md. */
export function laddersPart(recorded: readonly RecordedSession[]): string {
  const onTensorCores = new Set(
    recorded.flatMap(({ session }) => session.rungs.filter(usesTensorCores).map(({ id }) => id)),
  )
  return mdTable(
    headers.map((header, at) => ({
      header,
      align: at >= 2 && at <= 6 ? ('right' as const) : ('left' as const),
    })),
    recorded.map((one) => cells(one, onTensorCores)),
  )
}

/** The ladders that ship. */
export function shippedLadders(root: string): LadderFile[] {
  const kernels = join(root, 'cuda-kernels')
  return readdirSync(kernels, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\/ladders\/[^/]+\.json$/.test(file))
    .map((file) => LadderFile.parse(JSON.parse(readFileSync(join(kernels, file), 'utf8'))))
}

/** What authors published, by ladder, as the ladders that ship have it now; recordings have it as it was then. */
export const publishedFigures = (root: string): Map<string, Published> =>
  new Map(
    shippedLadders(root).flatMap(({ id, published }) =>
      published ? [[id, published] as const] : [],
    ),
  )

/** Each published figure, and what the rung reached here at the same size; never a ratio of the two, whose GPUs differ. */
export function publishedPart(
  recorded: readonly RecordedSession[],
  published: ReadonlyMap<string, Published>,
): string {
  const rows = recorded.flatMap(({ session }) => {
    const { ladder, problem, device } = session
    const theirs = published.get(ladder.id)
    if (!theirs || !problem || !device || !sameSizes(theirs.size, problem.sizes)) return []
    return session.rungs.flatMap((rung) => {
      const gflops = theirs.gflops[rung.id]
      const { timing } = rung
      if (gflops === undefined || !timing?.gflops) return []
      // In the unit of our own rate: bytes are to operations as they are in the task.
      const own = leadFigure(session, rung)!.rate
      const rate = { ...own, value: (own.value! * gflops) / timing.gflops }
      return [
        [
          md(
            `${theirs.author ?? 'no author named'}, ${theirs.gpu ?? 'GPU not named'}, ${problemWord(problem)}`,
          ),
          `\`${rung.id}\``,
          formatValue(rate.value, rate.unit),
          formatValue(own.value!, own.unit),
        ],
      ]
    })
  })
  return mdTable(
    ['author, GPU, size', 'rung', 'published', 'here, NVIDIA H200'].map((header, at) => ({
      header,
      align: at >= 2 ? ('right' as const) : ('left' as const),
    })),
    rows,
  )
}

// The generated part of docs/WHY.md: the causes of every step of the recordings that ship, and how they were judged.

/**
 * right: the first cause is what the source change does, by its header and by reading it. effect: it is true and names no
 * reason for it. wrong: it is something else. empty: no cause is told. same: the times are the same, so that there is none.
 */
const judgements = ['right', 'effect', 'wrong', 'empty', 'same'] as const
type Judgement = (typeof judgements)[number]

/** A first cause that was judged: which it was, so that another one is not taken for judged. */
interface Judged {
  cause: string
  verdict: 'right' | 'effect' | 'wrong'
  /** Why it is wrong. */
  because?: string
}

/** By recording and `a → b`. */
export type JudgedCauses = Readonly<Record<string, Readonly<Record<string, Judged>>>>

export const judgedPath = 'test/domain/why/judged-causes.json'

export const readJudged = (root: string): JudgedCauses =>
  JSON.parse(readFileSync(join(root, judgedPath), 'utf8')) as JudgedCauses

/** What a first cause is, without its figures: `busy: fmaUtilization, stallLongScoreboard`. */
export const causeKey = ({ why }: WhyStep): string | null => {
  const [cause] = why.causes
  return cause ? `${cause.id}: ${cause.metrics.map(({ id }) => id).join(', ')}` : null
}

export const stepKey = ({ a, b }: WhyStep): string => `${a.id} → ${b.id}`

export interface RecordedSteps {
  recording: string
  title: string
  level: string
  steps: WhyStep[]
}

export async function recordedSteps(recordings: string): Promise<RecordedSteps[]> {
  const names = (await sharingSessions(join(recordings, sharedSessions))).sort()
  return Promise.all(
    names.map(async (recording) => {
      const session = await readSession(join(recordings, recording))
      return {
        recording,
        title: session.ladder.title,
        level: session.settings.profile,
        steps: whyOfSteps(session),
      }
    }),
  )
}

function judgementOf(step: WhyStep, judged: Judged | undefined): Judgement | 'unjudged' {
  const cause = causeKey(step)
  if (step.why.verdict === 'same') return 'same'
  if (cause === null) return 'empty'
  return judged?.cause === cause ? judged.verdict : 'unjudged'
}

function stepText(step: WhyStep, judged: Judged | undefined): string {
  const { a, b, why } = step
  const factor =
    a.timing && b.timing ? `, ${formatRatio(a.timing.medianMs / b.timing.medianMs)} as fast` : ''
  const { groups, notes } = printedCauses(why)
  const [along, against] = groups.map(({ causes }) => causes)
  const judgement = judgementOf(step, judged)
  const because = judgement === 'wrong' && judged?.because ? `: ${judged.because}` : ''
  return [
    `${mdSentence([code(a.id), ' → ', code(b.id)])}${factor} (${judgement}${md(because)})`,
    ...(along ?? []).map(({ share, sentence }) => `- **${share}** ${mdSentence(sentence)}`),
    ...(against ?? []).map(
      ({ share, sentence }) => `- Against it, **${share}**: ${mdSentence(sentence)}`,
    ),
    ...(groups.length === 0 && notes[0] ? [`- ${md(notes[0])}`] : []),
  ].join('\n')
}

/** The counts by recording, then every step. */
export function causesPart(recorded: readonly RecordedSteps[], judged: JudgedCauses): string {
  const all = recorded.map(({ recording, level, steps }) => {
    const found = steps.map((step) => judgementOf(step, judged[recording]?.[stepKey(step)]))
    const count = (wanted: Judgement | 'unjudged'): number =>
      found.filter((one) => one === wanted).length
    return { recording, level, counts: [...judgements, 'unjudged' as const].map(count) }
  })
  const sums = all[0]!.counts.map((_, index) =>
    all.reduce((sum, { counts }) => sum + counts[index]!, 0),
  )
  const hasUnjudged = sums.at(-1)! > 0
  const columns = hasUnjudged ? [...judgements, 'unjudged'] : judgements
  const row = (name: string, level: string, counts: readonly number[]): string[] => [
    name,
    level,
    ...counts.slice(0, columns.length).map(String),
  ]
  const table = mdTable(
    [
      { header: 'recording', align: 'left' },
      { header: 'level', align: 'left' },
      ...columns.map((header) => ({ header, align: 'right' as const })),
    ],
    [
      ...all.map(({ recording, level, counts }) => row(`\`${recording}\``, level, counts)),
      row('all', '', sums),
    ],
  )
  const blocks = recorded.map(({ recording, title, steps }) =>
    details(
      `<code>${mdHtml(recording)}</code>: ${mdHtml(title)}`,
      steps.map((step) => stepText(step, judged[recording]?.[stepKey(step)])).join('\n\n'),
    ),
  )
  return [table, ...blocks].join('\n\n')
}

// The table of docs/EMULATION.md: what the emulator counts of kernels that were profiled on a GPU instruction by instruction,
// beside what ncu counted there. `test/domain/emulator/hardware.test.ts` holds each of its rows to a run of today.

const counters: Record<Counted, string> = {
  executed: 'instructions',
  threads: 'thread instructions',
  wavefronts: 'shared wavefronts',
  idealWavefronts: 'shared wavefronts, ideal',
  tags: 'L1 tags',
  sectors: 'L2 sectors',
  idealSectors: 'L2 sectors, ideal',
}

export interface CounterRow {
  rung: string
  counter: string
  emulated: number
  measured: number
  /** Why the two differ; empty where they are equal. */
  reason: string
}

/** All kernels of a rung together, counter by counter. */
export const rowsOf = (rung: string, kernels: readonly KernelComparison[]): CounterRow[] =>
  counted.map((what) => {
    const sum = (of: 'emulated' | 'measured'): number =>
      kernels.reduce((total, { totals }) => total + totals[what][of], 0)
    const [emulated, measured] = [sum('emulated'), sum('measured')]
    const opcodes = new Set(kernels.flatMap(({ totals }) => totals[what].opcodes))
    const reason =
      emulated === measured
        ? ''
        : opcodes.size === 0
          ? 'loops that wait'
          : [...opcodes].map((opcode) => `\`${opcode}\``).join(', ')
    return { rung, counter: counters[what], emulated, measured, reason }
  })

const whole = (count: number): string => count.toLocaleString('en-US')

const share = ({ emulated, measured }: CounterRow): number =>
  measured === 0 ? 0 : emulated / measured - 1

const percent = (part: number): string =>
  `${part > 0 ? '+' : '−'}${Math.abs(100 * part).toPrecision(2)} %`

const difference = (row: CounterRow): string =>
  row.emulated === row.measured
    ? '0'
    : `${whole(row.emulated - row.measured).replace('-', '−')} (${percent(share(row))})`

const counterCells = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`

/** The lines of a rung, without the padding that a formatter gives them. */
export const linesOf = (rows: readonly CounterRow[]): string[] =>
  rows.map((row) =>
    counterCells([
      `\`${row.rung}\``,
      row.counter,
      whole(row.emulated),
      whole(row.measured),
      difference(row),
      row.reason,
    ]),
  )

function sectionOf({ title }: Capture, rows: readonly CounterRow[]): string {
  const rungs = new Set(rows.map(({ rung }) => rung)).size
  const unequal = rows.filter(({ emulated, measured }) => emulated !== measured)
  const largest = [...unequal].sort((a, b) => Math.abs(share(b)) - Math.abs(share(a)))[0]
  const equal = `${rungs} rungs, ${rows.length} counters, ${rows.length - unequal.length} equal`
  const off = largest
    ? `; the largest difference is ${percent(share(largest))}, ${largest.counter} of ${largest.rung}`
    : ''
  return [
    '<details>',
    `<summary>${title.replaceAll(' x ', ' × ')}: ${equal}${off}</summary>`,
    '',
    counterCells(['rung', 'counter', 'emulated', 'measured', 'difference', 'because of']),
    counterCells(['---', '---', '--:', '--:', '--:', '---']),
    ...linesOf(rows),
    '',
    '</details>',
  ].join('\n')
}

function emulatedRows(rung: CapturedRung, seed: number): CounterRow[] {
  const compared = compareKernels(rung, emulate(rung, seed).launches)
  const [unequal] = unequalOf(compared)
  if (unequal !== undefined) throw new Error(`${rung.id} differs from the GPU: ${unequal}`)
  return rowsOf(rung.id, compared)
}

export const emulationTable = (): string =>
  captures()
    .map((name) => {
      const capture = readCapture(name)
      return sectionOf(
        capture,
        capture.rungs.flatMap((rung) => emulatedRows(rung, capture.seed)),
      )
    })
    .join('\n\n')
