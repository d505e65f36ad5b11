/** Compares two reports kernel by kernel. */
import { compareUnits } from '../domain/programs/compare-sessions'
import { sayKernels, sayRefusal } from '../domain/programs/say-comparison'
import { inEnglish } from '../domain/text/english'
import { launchUnit, type Names, type Unit } from '../domain/programs/units'
import type { Kernel, Report } from './report'

export interface KernelPair {
  a: Kernel
  b: Kernel
  /**
   * Properties that are equal in both kernels, joined by `+`, such as
   * `function+template+grid+block`. `order` means that otherwise identical kernels were paired in
   * launch order.
   */
  by: string
  /** Time of `b` divided by the time of `a`; null unless both kernels were timed. */
  ratio: number | null
  verdict: 'faster' | 'slower' | 'same' | 'unresolved'
}

/**
 * A group of kernels that were fused into fewer kernels or split into more. The kernels of such a
 * group are not listed in `pairs`, `onlyA` or `onlyB`.
 */
export interface FusedKernels {
  from: Kernel[]
  to: Kernel[]
  msA: number | null
  msB: number | null
  ratio: number | null
  verdict: KernelPair['verdict']
}

export interface Comparison {
  /** Sentences that describe the differences. Fusions come first, then the total. */
  answer: string[]
  fused: FusedKernels[]
  pairs: KernelPair[]
  onlyA: Kernel[]
  onlyB: Kernel[]
  /** Total time in milliseconds; null if no kernel was timed. */
  total: { msA: number | null; msB: number | null; ratio: number | null }
}

/**
 * Pairs the kernels of two reports by their properties. List position alone never pairs two
 * kernels.
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
  const names: Names = new Map()
  const unitsOf = ({ kernels }: Report): Unit[] =>
    kernels.map((kernel, index) => {
      const { name, grid, block, range, ms } = kernel
      const nvtx = range === null ? {} : { range }
      return launchUnit(`${index + 1}`, { name, grid, block, ...nvtx }, ms, {
        work: workOf(kernel),
        names,
      })
    })
  const found = compareUnits({ id: 'a', units: unitsOf(a) }, { id: 'b', units: unitsOf(b) })
  const kernelIn =
    ({ kernels }: Report) =>
    (id: string): Kernel =>
      kernels[Number(id) - 1]!
  const [inA, inB] = [kernelIn(a), kernelIn(b)]
  const { timeA, timeB, ratio } = found.total
  const answer = found.comparable.ok ? sayKernels(found) : sayRefusal(found.reasons)
  return {
    answer: answer.map((sentence) => inEnglish(sentence)),
    fused: found.fused.map((one) => ({
      from: one.from.map(inA),
      to: one.to.map(inB),
      ...{ msA: one.timeA, msB: one.timeB, ratio: one.ratio, verdict: one.verdict },
    })),
    pairs: found.pairs.map((pair) => ({
      ...{ a: inA(pair.a), b: inB(pair.b), by: pair.by },
      ...{ ratio: pair.ratio, verdict: pair.verdict },
    })),
    onlyA: found.onlyA.map(({ id }) => inA(id)),
    onlyB: found.onlyB.map(({ id }) => inB(id)),
    total: { msA: timeA, msB: timeB, ratio },
  }
}

/**
 * Returns the kernel's work counters if the report has them. Kernels without work counters are
 * matched by grid, block and time.
 */
function workOf({ metrics }: Kernel): Unit['work'] {
  const executed = metrics['smsp__inst_executed.sum']?.value
  return typeof executed === 'number' ? { instructions: executed } : {}
}
