/**
 * The table of docs/EMULATION.md: what the emulator counts of kernels that were profiled on a GPU instruction by instruction,
 * beside what ncu counted there. `test/domain/emulator/hardware.test.ts` holds each of its rows to a run of today.
 */
import {
  captures,
  compareKernels,
  counted,
  emulate,
  readCapture,
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

const cells = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`

/** The lines of a rung, without the padding that a formatter gives them. */
export const linesOf = (rows: readonly CounterRow[]): string[] =>
  rows.map((row) =>
    cells([
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
    cells(['rung', 'counter', 'emulated', 'measured', 'difference', 'because of']),
    cells(['---', '---', '--:', '--:', '--:', '---']),
    ...linesOf(rows),
    '',
    '</details>',
  ].join('\n')
}

const emulatedRows = (rung: CapturedRung, seed: number): CounterRow[] =>
  rowsOf(rung.id, compareKernels(rung, emulate(rung, seed).launches))

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
