/** Compares two reports, their kernels in pairs. */
import { reasonWord, verdictOf } from '../domain/programs/compare-sessions'
import { pairUnits } from '../domain/programs/pairing'
import { launchUnit, type Unit } from '../domain/programs/units'
import type { Kernel, Report } from './report'

export interface KernelPair {
  a: Kernel
  b: Kernel
  /** In what both agree: `function+template+grid+block`, say, with `order` among equals. */
  by: string
  /** Time of b over a; null unless both were timed. */
  ratio: number | null
  verdict: 'faster' | 'slower' | 'same' | 'unresolved'
}

export interface Comparison {
  pairs: KernelPair[]
  onlyA: Kernel[]
  onlyB: Kernel[]
  /** Milliseconds in all; null if nothing was timed. */
  total: { msA: number | null; msB: number | null; ratio: number | null }
}

const total = (kernels: readonly Kernel[]): number | null => {
  const times = kernels.flatMap(({ ms }) => (ms === null ? [] : [ms]))
  return times.length === 0 ? null : times.reduce((all, ms) => all + ms, 0)
}

const ratioOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null || a <= 0 ? null : b / a

/**
 * Pairs the kernels of two reports by what they are, never by their place in the list alone.
 *
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises'
 * import { compareReports, readNcuRep } from 'kernel-ladder'
 *
 * const [before, after] = await Promise.all(process.argv.slice(2, 4).map((file) => readFile(file)))
 * const { pairs, total } = compareReports(readNcuRep(before), readNcuRep(after))
 * for (const { a, ratio, verdict } of pairs) console.log(a.name, ratio?.toFixed(3), verdict)
 * console.log(`in all ${total.msA} → ${total.msB} ms`)
 * ```
 */
export function compareReports(a: Report, b: Report): Comparison {
  const units = new Map<Unit, Kernel>()
  const unitsOf = ({ kernels }: Report): Unit[] =>
    kernels.map((kernel, index) => {
      const { name, grid, block, range, ms } = kernel
      const nvtx = range === null ? {} : { range }
      const unit = launchUnit(`${index + 1}`, { name, grid, block, ...nvtx }, ms)
      units.set(unit, kernel)
      return unit
    })
  const found = pairUnits(unitsOf(a), unitsOf(b), { byRung: false })
  const [msA, msB] = [total(a.kernels), total(b.kernels)]
  return {
    pairs: found.pairs.map(({ a: left, b: right, by }) => {
      const [from, to] = [units.get(left)!, units.get(right)!]
      return {
        ...{ a: from, b: to, by: reasonWord(by), ratio: ratioOf(from.ms, to.ms) },
        verdict: verdictOf(left.time, right.time),
      }
    }),
    onlyA: found.onlyA.map((unit) => units.get(unit)!),
    onlyB: found.onlyB.map((unit) => units.get(unit)!),
    total: { msA, msB, ratio: ratioOf(msA, msB) },
  }
}
