/**
 * Compares a program's output with the expected output, byte by byte or as numbers. Files are
 * compared in chunks. Pure.
 */
import type { ProgramOutput } from '../ladder/program-ladder'
import type { Verify } from '../session/session'
import { dtypeOf, floatReader } from '../task/dtype'

/** Returns the size of an element in bytes, or 1 for a byte-by-byte comparison. */
export const elementBytes = ({ dtype }: Pick<ProgramOutput, 'dtype'>): number =>
  dtype === undefined ? 1 : dtypeOf(dtype).bytes

interface OutputCheck {
  /** Compares two chunks of equal length. The length must be a whole number of elements. */
  add(expected: Uint8Array, actual: Uint8Array): void
  verify(): Verify
  /** Number of elements compared so far. */
  readonly total: number
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * Creates a check for one output file of a program. A NaN always fails. An infinity fails unless it
 * is expected.
 */
export function outputCheck(rule: ProgramOutput): OutputCheck {
  const size = elementBytes(rule)
  const read =
    rule.dtype === undefined
      ? (view: DataView, at: number) => view.getUint8(at)
      : floatReader(rule.dtype)
  const { rtol = 0, atol = 0 } = rule
  let total = 0
  let mismatches = 0
  let worst: number | null = 0
  let first: Verify['firstMismatch'] = null
  return {
    add(expected, actual) {
      const [wanted, found] = [viewOf(expected), viewOf(actual)]
      for (let at = 0; at < expected.byteLength; at += size, total += 1) {
        const [right, own] = [read(wanted, at), read(found, at)]
        if (own === right) continue
        const error = Math.abs(own - right)
        if (!Number.isFinite(error)) worst = null
        else if (worst !== null)
          worst = Math.max(worst, right === 0 ? error : error / Math.abs(right))
        if (error <= atol + rtol * Math.abs(right)) continue
        mismatches += 1
        first ??= {
          buffer: rule.file,
          index: [total],
          expected: Number.isFinite(right) ? right : null,
          actual: Number.isFinite(own) ? own : null,
        }
      }
    },
    verify: () => ({
      passed: mismatches === 0,
      worstRelativeError: worst,
      mismatches,
      firstMismatch: first,
      outOfBounds: [],
      changedInputs: [],
    }),
    get total() {
      return total
    },
  }
}
