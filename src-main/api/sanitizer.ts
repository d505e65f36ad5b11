/** Reads the findings of compute-sanitizer. */
import { parseSanitizerXml } from '../parsers/cuda/compute-sanitizer'

export interface Place {
  file: string | null
  line: number | null
  function: string | null
}

export interface Finding {
  /**
   * Kind of finding as compute-sanitizer reports it: `Precise`, `Api`, `Analysis`, `Initcheck`, …
   */
  kind: string
  severity: 'error' | 'warning' | 'info'
  message: string
  place: Place
  /** For a race, the second access and the kinds of both accesses. */
  conflict: { place: Place; first: string; second: string } | null
  /** Number of hazards for a race, otherwise 1. */
  count: number
  thread: readonly [number, number, number] | null
  block: readonly [number, number, number] | null
  /** Address as printed by the tool, such as `0x7f81a5400100`. */
  address: string | null
}

export interface Findings {
  records: Finding[]
  /**
   * False if the tool did not finish. An incomplete report without findings does not prove that the
   * code is correct.
   */
  complete: boolean
}

/**
 * Reads a file written by `compute-sanitizer --xml --save FILE`.
 *
 * @throws {KernelLadderError} if the text is not a compute-sanitizer report
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises'
 * import { readSanitizerXml } from 'kernel-ladder'
 *
 * const { records } = readSanitizerXml(await readFile(process.argv[2], 'utf8'))
 * for (const { message, place } of records) console.log(`${place.file}:${place.line}: ${message}`)
 * ```
 */
export const readSanitizerXml = (xml: string): Findings => parseSanitizerXml(xml)
