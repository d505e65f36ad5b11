/** Reads values, spreads and sources from the output lines of the microbenchmarks. */
import { inputError } from '../errors'
import { message } from '../messages/message'
import {
  measurementName,
  measurementsOf,
  type Measurement,
  type Wanted,
} from './calibration-output'
import type { ParameterValue } from './gpu-parameters'

/** A number from an output line. */
export interface Read {
  value: number
  spread: number | undefined
  /** Name of the measurement, such as `latency.shared, bytes 4`. */
  name: string
}

const noLine = (name: string): Error =>
  inputError(message('calibration.noLine', { name }), message('calibration.runAgain'))

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

/**
 * Returns whether a line contains the spread of a field. The spread of a number is the next field
 * in the line.
 */
const hasSpread = (line: Measurement, field: string): boolean => {
  const fields = Object.keys(line)
  return fields[fields.indexOf('spread') - 1] === field
}

export class MeasuredLines {
  constructor(readonly all: readonly Measurement[]) {}

  /**
   * Returns a number from a line. Returns null if the line is missing because the GPU lacks the
   * instruction.
   */
  find(benchmark: string, wanted: Wanted = {}, field = 'cycles'): Read | null {
    const [line] = measurementsOf(this.all, benchmark, wanted)
    const value = line?.[field]
    if (!isNumber(value)) return null
    const spread = line?.spread
    return {
      value,
      spread: isNumber(spread) && hasSpread(line!, field) ? spread : undefined,
      name: measurementName(benchmark, wanted),
    }
  }

  /** Returns a number from a line. Throws an input error if the line is missing. */
  read(benchmark: string, wanted: Wanted = {}, field = 'cycles'): Read {
    const found = this.find(benchmark, wanted, field)
    if (found) return found
    throw noLine(measurementName(benchmark, wanted))
  }

  /**
   * Returns the fewest cycles in a benchmark's lines, because its other lines include conflicts.
   * Throws an input error if there is no line.
   */
  least(benchmark: string, wanted: Wanted): Read {
    const [first] = this.curve(benchmark, wanted, 'cycles', 'cycles')
    const read = this.read(benchmark, { ...wanted, cycles: first!.x })
    return { ...read, name: measurementName(benchmark, wanted) }
  }

  /** Returns the points of a curve, sorted by `x`. Throws an input error if there are no points. */
  curve(benchmark: string, wanted: Wanted, x: string, y: string): { x: number; y: number }[] {
    const points = measurementsOf(this.all, benchmark, wanted).flatMap((line) => {
      const [at, value] = [line[x], line[y]]
      return isNumber(at) && isNumber(value) ? [{ x: at, y: value }] : []
    })
    if (points.length === 0) throw noLine(measurementName(benchmark, wanted))
    return points.sort((a, b) => a.x - b.x)
  }

  /** Returns the list in a field of a line. */
  list(benchmark: string, wanted: Wanted, field: string): number[] {
    const list = measurementsOf(this.all, benchmark, wanted)[0]?.[field]
    if (Array.isArray(list) && list.length > 0) return list
    throw noLine(measurementName(benchmark, wanted))
  }
}

/** Rounds a fraction to four digits. No benchmark result is repeatable to more digits. */
const rounded = (value: number): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(4))

/** Converts a measurement to a parameter value. Fractions are rounded to four digits. */
export const measured = ({ value, spread, name }: Read): ParameterValue => ({
  value: rounded(value),
  evidence: 'measured',
  ...(spread === undefined ? {} : { spread: Number(spread.toPrecision(2)) }),
  source: name,
})

/**
 * Returns a parameter value computed from measurements. `spread` is the spread of the computed
 * value.
 */
export const derived = (value: number, source: string, spread?: number): ParameterValue => ({
  value: rounded(value),
  evidence: 'derived',
  ...(spread === undefined ? {} : { spread: Number(spread.toPrecision(2)) }),
  source,
})

export const assumed = (value: number, source: string): ParameterValue => ({
  value: rounded(value),
  evidence: 'assumed',
  source,
})
