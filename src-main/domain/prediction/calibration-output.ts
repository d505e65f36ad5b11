/**
 * Parses the output of `cuda-kernels/calibrate`. Each line of the output is a JSON object that
 * describes one measurement.
 */
import { z } from 'zod'
import { inputError } from '../errors'
import { message } from '../messages/message'

const Measurement = z
  .object({ benchmark: z.string().max(100) })
  .catchall(z.union([z.number(), z.string().max(1000), z.array(z.number()).max(10_000), z.null()]))
export type Measurement = z.infer<typeof Measurement>

const End = z.object({ benchmark: z.literal('end'), version: z.literal(1) })

/**
 * Parses a line. Returns null for other text, such as a library's warning or an incomplete line.
 */
export function readMeasurement(line: string): Measurement | null {
  try {
    return Measurement.safeParse(JSON.parse(line)).data ?? null
  } catch {
    return null
  }
}

/**
 * Returns the measurements in the calibration's output. Throws an input error if the calibration
 * did not finish.
 */
export function readCalibration(text: string): Measurement[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const all = lines.map(readMeasurement)
  if (!all.some((line) => line !== null && End.safeParse(line).success))
    throw inputError(message('calibration.cutShort'), message('calibration.runAgain'))
  const damaged = all.indexOf(null)
  if (damaged >= 0)
    throw inputError(
      message('calibration.badLine', { line: damaged + 1 }),
      message('calibration.runAgain'),
    )
  return all.filter((line) => line !== null)
}

export type Wanted = Readonly<Record<string, string | number>>

/**
 * Returns a measurement's name, such as `latency.shared, bytes 4`. The name is stored as the source
 * of a value.
 */
export const measurementName = (benchmark: string, wanted: Wanted): string =>
  [benchmark, ...Object.entries(wanted).map(([key, value]) => `${key} ${value}`)].join(', ')

/** Returns the measurements of a benchmark whose fields match `wanted`, in output order. */
export const measurementsOf = (
  all: readonly Measurement[],
  benchmark: string,
  wanted: Wanted = {},
): Measurement[] =>
  all.filter(
    (line) =>
      line.benchmark === benchmark &&
      Object.entries(wanted).every(([key, value]) => line[key] === value),
  )
