import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { describe, expect, it } from 'vitest'
import {
  captures,
  compareKernels,
  emulate,
  readCapture,
  unequalOf,
  type CapturedRung,
  type RungRun,
} from '../../emulated-captures'
import { countersPath, linesOf, rowsOf } from '../../../scripts/lib/emulation-table'

// Node.js 20 needs this V8 flag, which the emulator's worker also sets. Later versions of Node.js
// do not need the flag.
if (process.version.startsWith('v20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')

/** Lines of the counter table in the docs, without the padding that the formatter adds. */
const documented = new Set(
  readFileSync(new URL(`../../../${countersPath}`, import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.replaceAll(/ *\| */g, ' | ').trim()),
)

/** Returns the elements of a buffer as numbers. */
function numbersOf(rung: CapturedRung, { contents }: RungRun, name: string): Float32Array {
  const bytes = contents(name).slice()
  if (rung.buffers.find((buffer) => buffer.name === name)!.dtype === 'f32')
    return new Float32Array(bytes.buffer)
  const halves = new Uint16Array(bytes.buffer)
  return new Float32Array(Int32Array.from(halves, (half) => half << 16).buffer)
}

/**
 * Returns the largest error of C = A B over a sample of elements in C. Errors are relative to the
 * sum of the absolute products.
 */
function worstError(title: string, rung: CapturedRung, run: RungRun): number {
  const [m, n, k] = /(\d+) x (\d+) x (\d+)/.exec(title)!.slice(1).map(Number) as [
    number,
    number,
    number,
  ]
  const [a, b, c] = ['a', 'b', 'c'].map((name) => numbersOf(rung, run, name)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ]
  let worst = 0
  for (let element = 0; element < m * n; element += 23) {
    const [row, column] = [Math.floor(element / n), element % n]
    let [sum, size] = [0, 0]
    for (let at = 0; at < k; at++) {
      const product = a[row * k + at]! * b[at * n + column]!
      sum += product
      size += Math.abs(product)
    }
    const error = Math.abs(c[element]! - sum) / size
    if (!(error <= worst)) worst = error
  }
  return worst
}

/**
 * For large captures, this test covers only the rungs with the most variety. `npm run readme --
 * emulation` compares all rungs and writes the results to the docs.
 */
const sampled: Readonly<Record<string, readonly string[]>> = {
  'gemm-3xtf32-512': ['61_tf32x3_cp_async'],
  'gemm-tensor-512': ['54_mma_sync', '58_persistent'],
  reduction: ['01_interleaved_divergent', '08_vector_loads', '10_last_block'],
  histogram: ['02_shared'],
}

const agreesWithHardware = (name: string): void => {
  const capture = readCapture(name)
  const rungs = capture.rungs
    .filter(({ id }) => sampled[name]?.includes(id) ?? true)
    .map((rung) => [rung.id, rung] as const)

  const agrees = (_: string, rung: CapturedRung): void => {
    const run = emulate(rung, capture.seed)
    const { launches } = run
    expect(launches.flatMap(({ result }) => result.findings)).toEqual([])
    const compared = compareKernels(rung, launches)
    expect(unequalOf(compared)).toEqual([])
    const rows = linesOf(rowsOf(rung.id, compared))
    const missing = rows.filter((row) => !documented.has(row))
    expect(missing, `not in ${countersPath}: npm run readme -- emulation`).toEqual([])
    if (name.startsWith('gemm')) expect(worstError(capture.title, rung, run)).toBeLessThan(1e-6)
  }
  it.each(rungs.slice(0, 1))('%s has the same counts as on the GPU', agrees)
  it.each(rungs.slice(1))('%s has the same counts as on the GPU', { tags: ['thorough'] }, agrees)
}

/** Returns whether another capture already covers the same task. */
const isAnother = (name: string): boolean => /^gemm-(3xtf32|tensor)-/.test(name)
const title = '%s, counted on an H200 instruction by instruction'
describe.each(captures().filter((name) => !isAnother(name)))(title, agreesWithHardware)
describe.each(captures().filter(isAnother))(title, { tags: ['thorough'] }, agreesWithHardware)
