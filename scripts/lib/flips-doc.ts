/**
 * Generates the section of docs/evidence/emulation.md about bit flips, which shows the effect of
 * flipping each bit in each known instruction form.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  decode,
  firstBit,
  flipForm,
  flipped,
  formsOf,
  lastBit,
  type Flips,
} from '../../test/domain/emulator/flips'
import { changeOf, reasonOf, reasons, type Reason } from '../../test/domain/emulator/quiet-flips'

export interface FormFlips extends Flips {
  name: string
}

const kept = new URL('../../test/captures/instructions/flips.jsonl', import.meta.url)

export const readFlips = (): FormFlips[] =>
  readFileSync(kept, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FormFlips)

/** Flips every bit of every instruction form and stores the results. The run takes minutes. */
export function flipAll(): FormFlips[] {
  const rows = formsOf().map((form): FormFlips => {
    const { runs, quiet, refused } = flipForm(form)
    return { name: form.name, runs, quiet, refused }
  })
  writeFileSync(kept, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return rows
}

const ranges = (bits: readonly number[]): string => {
  const sorted = [...new Set(bits)].sort((a, b) => a - b)
  const starts = sorted.filter((bit) => !sorted.includes(bit - 1))
  return starts
    .map((start) => {
      let end = start
      while (sorted.includes(end + 1)) end++
      return end === start ? `${start}` : `${start}–${end}`
    })
    .join(', ')
}

/**
 * Returns the reason why a bit has no effect. The reason comes from the first encoding that can be
 * decoded both before and after the flip.
 */
function whyQuiet(form: ReturnType<typeof formsOf>[number], bit: number): Reason {
  for (const words of form.words) {
    const [before, after] = [decode(words), decode(flipped(words, bit))]
    const reason = before && after && reasonOf(changeOf(before, after))
    if (reason) return reason
  }
  throw new Error(`bit ${bit} of ${form.name} has no effect, and no reason explains it`)
}

/** Returns the total number of flips, and one row per reason. */
export function bitsPart(rows: readonly FormFlips[]): string {
  const forms = new Map(formsOf().map((form) => [form.name, form]))
  const found = new Map(reasons.map((reason) => [reason, { forms: 0, bits: [] as number[] }]))
  let all = 0
  for (const { name, quiet } of rows) {
    const here = new Set<Reason>()
    for (const bit of quiet) {
      const reason = whyQuiet(forms.get(name)!, bit)
      found.get(reason)!.bits.push(bit)
      here.add(reason)
      all++
    }
    for (const reason of here) found.get(reason)!.forms++
  }
  const refused = rows.filter(({ refused: why }) => why !== null).length
  const executed = rows.length - refused
  const count = (value: number): string => value.toLocaleString('en-US')
  const runs = rows.reduce((sum, row) => sum + row.runs, 0)
  return [
    `Bits ${firstBit} to ${lastBit} of ${count(rows.length)} forms that nvcc emits for sm_90 were flipped one at a time. The emulator rejects ${count(refused)} of these forms even without a flip.`,
    `The other forms have ${count(executed * (lastBit - firstBit + 1))} bits in total. For ${count(all)} of them, the emulator accepts the flip and the result does not change in any tested state (${count(runs)} executions):`,
    '',
    '| bits | positions | forms | flips | reason |',
    '| --- | --- | --: | --: | --- |',
    ...[...found]
      .filter(([, { bits }]) => bits.length > 0)
      .map(
        ([{ bits: what, why, shows }, { forms: count_, bits }]) =>
          `| ${what} | ${ranges(bits)} | ${count_} | ${bits.length} | ${shows ? 'not revealed by the tested values: ' : ''}${why} |`,
      ),
  ].join('\n')
}
