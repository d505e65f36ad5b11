/** Code and counters out of a report, held against the pages that ncu printed of the same report. */
import { describe, expect, it } from 'vitest'
import { parseNcuRep } from '../../../src-main/parsers/ncu/ncu-rep'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-details'
import { parseSourcePage } from '../../../src-main/parsers/ncu/ncu-source'
import { ncuCapture, ncuReport } from '../captures'

const bare = (path: string): string => path.split('/').pop()!
const report = parseNcuRep(ncuReport('set-full'))
const codes = report.launches.map((launch) => report.codeOf(launch, bare)!)
const page = parseSourcePage(ncuCapture('source-cuda-sass'))
const rules = parseRules(ncuCapture('import-details'))

describe('the code in a report', () => {
  const { kernel, sources } = codes[0]!
  const section = page.sections[0]!

  it('has the instructions of the source page, each with its opcode, line and counters', () => {
    const first = Math.min(...section.instructions.map(({ address }) => address))
    expect(new Set(section.instructions.map(({ address }) => (address - first) / 16)).size).toBe(
      kernel.instructions.length,
    )
    for (const { address, text, line, ...work } of section.instructions) {
      const own = kernel.instructions[(address - first) / 16]!
      const { index: _, offset, text: ownText, opcode, file, line: ownLine, ...ownWork } = own
      // Its jumps are to addresses of the load.
      const printed = text
        .trim()
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/0x[0-9a-f]{9,}/g, (target) => `0x${(Number(target) - first).toString(16)}`)
      expect(ownText).toBe(printed)
      expect(printed).toContain(opcode)
      expect({ offset, file, line: ownLine }, text).toEqual({
        offset: address - first,
        file: 'probe.cu',
        line,
      })
      expect(ownWork, text).toEqual(work)
    }
  })

  it('has the lines of the source page with their sums and texts', () => {
    expect(kernel.lines.map(({ file: _, ...line }) => line)).toEqual(
      section.lines.map(({ text, ...line }) => ({ ...line, text: text.trim() })),
    )
    expect(sources.map(({ path }) => bare(path))).toEqual(['probe.cu'])
    expect(sources[0]!.text).toContain('tile_kernel')
  })

  it('counts opcodes with their modifiers', () => {
    const { opcodes } = kernel
    expect(opcodes).toMatchObject({ 'LDC.64': expect.any(Number), EXIT: expect.any(Number) })
    const executed = kernel.instructions.reduce((sum, { executed: own }) => sum + own!, 0)
    expect(Object.values(opcodes!).reduce((sum, count) => sum + count, 0)).toBe(executed)
  })
})

it('a report’s advice is what ncu prints of it', () => {
  for (const [index, { kernel }] of codes.entries()) {
    const printed = rules.get(index) ?? []
    expect(kernel.rules).toHaveLength(printed.length)
    for (const rule of kernel.rules) {
      const same = printed.find(({ name, text }) => name === rule.name && text === rule.text)
      expect({ ...same, estimatedSpeedup: null }).toEqual({ ...rule, estimatedSpeedup: null })
      // ncu prints four digits.
      if (rule.estimatedSpeedup !== null)
        expect(same!.estimatedSpeedup! / rule.estimatedSpeedup).toBeCloseTo(1, 3)
    }
  }
})

it('inlined code is at its own line and at those of its callers', () => {
  const deep = parseNcuRep(ncuReport('five-kernels'))
  const { kernel, sources } = deep.codeOf(deep.launches[0]!, bare)!
  expect(sources.map(({ path }) => bare(path)).sort()).toEqual(['01_naive.cu', 'gemm_common.cuh'])
  const inlined = kernel.instructions.find(({ inlinedFrom }) => inlinedFrom)!
  expect(inlined).toMatchObject({ file: 'gemm_common.cuh', line: 30 })
  expect(inlined.inlinedFrom).toEqual([{ file: '01_naive.cu', line: 19 }])
  expect(kernel.lines.some(({ file, line }) => file === '01_naive.cu' && line === 19)).toBe(true)
})

it('damaged machine code yields none, without hanging or throwing', () => {
  const bytes = ncuReport('five-kernels').slice()
  // A small generator of our own, so that a failure can be repeated.
  let seed = 11
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below
  for (let n = 0; n < 20_000; n += 1) bytes[2000 + random(30_000)] = random(256)
  const damaged = parseNcuRep(bytes)
  for (const launch of damaged.launches) damaged.codeOf(launch, bare)
})
