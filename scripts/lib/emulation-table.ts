/**
 * Compares the emulator's counters with ncu's counters on a GPU. docs/evidence/tables/counters.md
 * contains every row. docs/evidence/emulation.md contains one line per ladder.
 *
 * `test/domain/emulator/hardware.test.ts` compares each row with a new emulation.
 */
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
  /** Reason why the emulated and measured counts differ. Empty if the counts are equal. */
  reason: string
}

/** Returns a rung's counters, summed over its kernels. */
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
          ? 'polling loops'
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

/** Returns the table rows for a rung as Markdown lines without padding. */
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
    `## ${title.replaceAll(' x ', ' × ')}`,
    '',
    `${equal}${off}.`,
    '',
    counterCells(['rung', 'counter', 'emulated', 'measured', 'difference', 'because of']),
    counterCells(['---', '---', '--:', '--:', '--:', '---']),
    ...linesOf(rows),
  ].join('\n')
}

export const emulationPath = 'docs/evidence/emulation.md'
export const countersPath = 'docs/evidence/tables/counters.md'

/**
 * Returns one row per section of the counters page. The values come from the page's text, without a
 * new emulation.
 */
export const countersSummary = (page: string): string =>
  [
    counterCells(['ladder, size and GPU', 'rungs', 'counters', 'equal', 'largest difference']),
    counterCells(['---', '--:', '--:', '--:', '---']),
    ...[...page.matchAll(/^## (.+)\n\n(\d+) rungs, (\d+) counters, (\d+) equal(.*)\.$/gm)].map(
      ([, title, rungs, all, equal, off]) =>
        counterCells([
          title!,
          rungs!,
          all!,
          equal!,
          off!.replace('; the largest difference is ', '') || 'none',
        ]),
    ),
  ].join('\n')

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
