/** Reads findings of compute-sanitizer. */
import { parseSanitizerXml } from '../parsers/cuda/compute-sanitizer'

export interface Place {
  file: string | null
  line: number | null
  function: string | null
}

export interface Finding {
  /** The tool's own word: `Precise`, `Api`, `Analysis`, `Initcheck`, … */
  kind: string
  severity: 'error' | 'warning' | 'info'
  message: string
  place: Place
  /** The second access of a race, and the kinds of both. */
  conflict: { place: Place; first: string; second: string } | null
  /** Hazards of a race, else 1. */
  count: number
  thread: readonly [number, number, number] | null
  block: readonly [number, number, number] | null
  /** As the tool wrote it, `0x7f81a5400100`. */
  address: string | null
}

export interface Findings {
  records: Finding[]
  /** False if the tool did not finish: then no findings do not mean that there are none. */
  complete: boolean
}

/**
 * Reads what `compute-sanitizer --xml --save FILE` saved.
 *
 * @throws {KernelLadderError} if the text is not a report of the tool
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
