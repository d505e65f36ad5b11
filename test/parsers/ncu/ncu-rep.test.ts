import { describe, expect, it } from 'vitest'
import {
  parseNcuRawCsv,
  type NcuLaunch,
  type NcuValue,
} from '../../../src-main/parsers/ncu/ncu-csv'
import { parseNcuRep } from '../../../src-main/parsers/ncu/ncu-rep'
import { ncuCapture, ncuReport, programCapture } from '../../captures'
import { decode } from '../../../src-main/parsers/ncu/ncu-rep-messages'
import { said } from '../../support'
import { parseSourcePage } from '../../../src-main/parsers/ncu/ncu-source'
import {
  deepSchemaVersion,
  stallDelta,
  stallHistogram,
  stallObstacle,
  type DeepProfile,
} from '../../../src-main/domain/session/deep'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { withNotIssuedSamplesAlone } from './made-reports'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-advice'

const bytes = ncuReport('launches-two-rungs')
// Raw output from the ncu version that wrote the report.
const printed = parseNcuRawCsv(ncuCapture('launches-two-rungs'))
const report = parseNcuRep(bytes)

/** Returns whether two values are equal when printed with two decimals, as ncu prints them. */
const asPrinted = (report: NcuValue['value'], csv: NcuValue['value']): boolean =>
  typeof report === 'number' && typeof csv === 'number'
    ? Math.abs(report - csv) <= 0.005 + 1e-9 * Math.abs(csv)
    : report === csv

describe('a report', () => {
  it('has the launches that ncu prints', () => {
    const bare = (launches: typeof report.launches) => launches.map(({ metrics: _, ...own }) => own)
    expect(bare(report.launches)).toEqual(bare(printed.launches))
    expect(report.launches).toHaveLength(3)
    expect(report.notes).toEqual([])
  })

  it("has ncu's version, the creation time, and the command line", () => {
    expect(report.ncuVersion).toBe('2025.3.1.0')
    expect(report.createdAt?.toISOString()).toBe('2026-11-21T02:44:56.000Z')
    expect(report.commandLine).toContain('--clock-control none')
  })
})

describe.each([
  ['with selected metrics', 'launches-two-rungs', 'launches-two-rungs', 897],
  ['with the full set and sources', 'set-full', 'import-set-full', 4_000],
  ['of five rungs at the deep level', 'five-kernels', 'import-five-kernels', 10_000],
  ['of a program', 'programs/deep-twelve', 'programs/import-deep-twelve', 28_000],
])('a report %s', (_, name, page, atLeast) => {
  const launches = parseNcuRep(ncuReport(name)).launches
  const pages = parseNcuRawCsv(
    page.startsWith('programs/') ? programCapture(page.slice(9)).stdout : ncuCapture(page),
  ).launches

  it('has exactly the metrics that ncu prints, with the same units and to the printed precision', () => {
    expect(launches).toHaveLength(pages.length)
    let compared = 0
    for (const [index, { metrics }] of pages.entries()) {
      const own = launches[index]!.metrics
      expect(Object.keys(own).sort()).toEqual(Object.keys(metrics).sort())
      for (const [metric, { value, unit }] of Object.entries(metrics)) {
        expect(`${metric} ${own[metric]!.unit}`).toBe(`${metric} ${unit}`)
        expect(
          asPrinted(own[metric]!.value, value),
          `${metric}: ${own[metric]!.value} ${value}`,
        ).toBe(true)
        compared += 1
      }
    }
    expect(compared).toBeGreaterThanOrEqual(atLeast)
  })
})

it("a page printed in automatic units is parsed into the report's values and units", () => {
  const [page] = parseNcuRawCsv(programCapture('import-deep-twelve-auto').stdout).launches
  const [launch] = parseNcuRep(ncuReport('programs/deep-twelve')).launches
  // The value is 2614 %/byte, which ncu prints as 2.614 %/Kbyte.
  expect(page!.metrics.derived__pct_occupancy_per_shared_mem_size).toEqual({
    value: 2614,
    unit: '%/byte',
  })
  for (const [metric, { value, unit }] of Object.entries(page!.metrics)) {
    const own = launch!.metrics[metric]!
    expect(`${metric} ${unit}`).toBe(`${metric} ${own.unit}`)
    if (typeof value === 'number' && typeof own.value === 'number')
      expect(Math.abs(value - own.value), metric).toBeLessThan(0.006 + 1e-5 * Math.abs(own.value))
    else expect(value, metric).toBe(own.value)
  }
})

describe('a truncated report', () => {
  // Use a prime number of cuts, so that the cuts are at different positions in the blocks.
  const step = Math.floor(bytes.length / 59)
  const cuts = Array.from({ length: 59 }, (_, n) => 4 + n * step + n)

  it.each(cuts)('that ends at byte %i yields the launches before the cut and a note', (length) => {
    const cut = parseNcuRep(bytes.slice(0, length))
    expect(cut.launches).toEqual(report.launches.slice(0, cut.launches.length))
    expect(cut.launches.length).toBeLessThan(3)
    expect(said(cut.notes).join()).toMatch(
      /truncated at byte \d+: (no launch|launches after the first)/,
    )
  })

  /** Returns the start, the payload start, and the end of each block in a report. */
  function blocksOf(whole: Uint8Array): { begins: number; payload: number; ends: number }[] {
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength)
    const blocks = []
    for (let begins = 8 + view.getUint32(4, true); begins < whole.length;) {
      const payload = begins + 4 + view.getUint32(begins, true)
      const { payloadBytes } = decode('BlockHeader', whole.subarray(begins + 4, payload))
      const ends = payload + payloadBytes
      blocks.push({ begins, payload, ends })
      begins = ends
    }
    return blocks
  }

  it('that ends in any of its blocks is reported', () => {
    const { launches } = report
    const blocks = blocksOf(bytes)
    expect(blocks.length).toBeGreaterThan(12)
    expect(blocks.at(-1)!.ends).toBe(bytes.length)
    for (const { begins, payload, ends } of blocks)
      for (const at of new Set([
        ...[begins + 2, begins + 4, Math.floor((begins + payload) / 2), payload - 1],
        ...(ends > payload ? [payload, Math.floor((payload + ends) / 2), ends - 1] : []),
      ])) {
        const cut = parseNcuRep(bytes.subarray(0, at))
        expect(cut.launches, `${at}`).toEqual(launches.slice(0, cut.launches.length))
        expect(said(cut.notes).join(), `${at}`).toContain(`truncated at byte ${at}`)
      }
    // The format has no end mark. A file that ends after a complete block does not indicate that
    // another block is missing.
    for (const { begins } of blocks)
      expect(parseNcuRep(bytes.subarray(0, begins)).notes).toEqual([])
  })

  it('has a note with the number of launches that were read', () => {
    const { launches, notes } = parseNcuRep(bytes.slice(0, bytes.length - 10))
    expect(launches).toHaveLength(2)
    expect(said(notes)).toEqual([expect.stringContaining('launches after the first 2 are missing')])
  })
})

describe('foreign bytes', () => {
  it('are rejected if they do not begin like a report', () => {
    expect(() => parseNcuRep(new TextEncoder().encode('PK\u0003\u0004'))).toThrow(
      expect.objectContaining({ kind: 'input', message: expect.stringContaining('NVR') }),
    )
  })

  it('after the start of a report are reported in a note without delay', () => {
    const garbage = Uint8Array.from({ length: 4096 }, (_, n) => (n * 167 + 13) % 256)
    const { launches, notes } = parseNcuRep(new Uint8Array([0x4e, 0x56, 0x52, 0, ...garbage]))
    expect(launches).toEqual([])
    expect(notes).toHaveLength(1)
  })

  it('that announce more data than exists are ignored', () => {
    const header = [8, 0, 16, 255, 255, 255, 255, 15, 40, 255, 255, 255, 255, 15]
    const { notes } = parseNcuRep(
      new Uint8Array([0x4e, 0x56, 0x52, 0, 2, 0, 0, 0, 8, 7, header.length, 0, 0, 0, ...header]),
    )
    expect(said(notes)).toEqual([expect.stringContaining('truncated')])
  })

  it('that decode to empty launches are omitted, with only a few notes', () => {
    const header = [16, 144, 78, 40, 192, 184, 2]
    const { launches, notes } = parseNcuRep(
      new Uint8Array([
        ...[0x4e, 0x56, 0x52, 0, 2, 0, 0, 0, 8, 7, header.length, 0, 0, 0],
        ...header,
        ...Array<number>(40_000).fill(0),
      ]),
    )
    expect(launches).toEqual([])
    // The notes list a few launches, then state that reading stopped, and end with the total number
    // of launches.
    expect(notes).toHaveLength(22)
    expect(said(notes).join()).toContain('In total, 10000 launches')
  })

  it('in the middle of a report cause neither a hang nor a crash', () => {
    // A simple seeded generator, so that failures can be reproduced.
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31
      return seed % below
    }
    for (let round = 0; round < 60; round += 1) {
      const damaged = bytes.slice()
      for (let n = 0; n < 40; n += 1) damaged[4 + random(bytes.length - 4)] = random(256)
      const { launches } = parseNcuRep(damaged)
      expect(launches.length).toBeLessThanOrEqual(3)
    }
  })

  it('from a newer format are parsed as far as possible, with a note', () => {
    const newer = bytes.slice()
    newer[9] = 9
    const { launches, notes } = parseNcuRep(newer)
    expect(launches).toHaveLength(3)
    expect(said(notes)).toEqual([expect.stringMatching(/format version 9; .* ignores/)])
  })
})

// Compares code and counters from a report with the pages that ncu prints for the report.

const bare = (path: string): string => path.split('/').pop()!
const withCode = parseNcuRep(ncuReport('set-full'))
const codes = withCode.launches.map((launch) => withCode.codeOf(launch, bare)!)
const page = parseSourcePage(ncuCapture('source-cuda-sass'))
const rules = parseRules(ncuCapture('import-details'))

describe('the code in a report', () => {
  const { kernel, sources } = codes[0]!
  const section = page.sections[0]!

  it('has the instructions from the source page, each with its opcode, line, and counters', () => {
    const first = Math.min(...section.instructions.map(({ address }) => address))
    expect(new Set(section.instructions.map(({ address }) => (address - first) / 16)).size).toBe(
      kernel.instructions.length,
    )
    for (const { address, text, line, ...work } of section.instructions) {
      const own = kernel.instructions[(address - first) / 16]!
      const { index: _, offset, text: ownText, opcode, file, line: ownLine, ...ownWork } = own
      // ncu prints jump targets as addresses of the loaded code.
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

  it('has the lines from the source page with their sums and texts', () => {
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

it("a report’s recommendations match ncu's printed recommendations", () => {
  for (const [index, { kernel }] of codes.entries()) {
    const printed = rules.get(index) ?? []
    expect(kernel.rules).toHaveLength(printed.length)
    for (const rule of kernel.rules) {
      const same = printed.find(({ name, text }) => name === rule.name && text === rule.text)
      expect({ ...same, estimatedSpeedup: null }).toEqual({ ...rule, estimatedSpeedup: null })
      // ncu prints the speedup with four digits.
      if (rule.estimatedSpeedup !== null)
        expect(same!.estimatedSpeedup! / rule.estimatedSpeedup).toBeCloseTo(1, 3)
    }
  }
})

it('inlined code is attributed to its own line and to the lines of its callers', () => {
  const deep = parseNcuRep(ncuReport('five-kernels'))
  const { kernel, sources } = deep.codeOf(deep.launches[0]!, bare)!
  expect(sources.map(({ path }) => bare(path)).sort()).toEqual(['01_naive.cu', 'gemm_common.cuh'])
  const inlined = kernel.instructions.find(({ inlinedFrom }) => inlinedFrom)!
  expect(inlined).toMatchObject({ file: 'gemm_common.cuh', line: 30 })
  expect(inlined.inlinedFrom).toEqual([{ file: '01_naive.cu', line: 19 }])
  expect(kernel.lines.some(({ file, line }) => file === '01_naive.cu' && line === 19)).toBe(true)
})

it('damaged machine code yields no instructions and causes no hang or exception', () => {
  const bytes = ncuReport('five-kernels').slice()
  // A simple seeded generator, so that failures can be reproduced.
  let seed = 11
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below
  for (let n = 0; n < 20_000; n += 1) bytes[2000 + random(30_000)] = random(256)
  const damaged = parseNcuRep(bytes)
  for (const launch of damaged.launches) damaged.codeOf(launch, bare)
})

describe('a synthetic report with samples from only non-issuing cycles', () => {
  const [all, notIssued] = [
    ncuReport('five-kernels'),
    withNotIssuedSamplesAlone(ncuReport('five-kernels')),
  ].map((bytes): DeepProfile => {
    const { launches, codeOf } = parseNcuRep(bytes)
    const { kernel } = codeOf(launches[0]!, (path) => path)!
    return { schema: deepSchemaVersion, rung: 'a', kernels: [kernel], notes: [] }
  }) as [DeepProfile, DeepProfile]

  it('has stall reasons only for those samples and is marked accordingly', () => {
    expect(all.kernels[0]!.stallSamples).toBe('all')
    expect(notIssued.kernels[0]!.stallSamples).toBe('notIssued')
    const [full, part] = [stallHistogram(all)!, stallHistogram(notIssued)!]
    expect(Object.keys(full)).toEqual(expect.arrayContaining(Object.keys(part)))
    expect(part['long_sb']).toBeGreaterThan(0)
    expect(part['long_sb']).toBeLessThanOrEqual(full['long_sb']!)
    const [first] = notIssued.kernels[0]!.instructions.filter((one) => one.notIssuedSamples)
    expect(first!.samples).toBeNull()
  })

  it('is compared only with a report of the same kind, and a message explains why', () => {
    expect(stallDelta(notIssued, notIssued)).not.toBeNull()
    expect(stallObstacle(all, all)).toBeNull()
    expect(stallDelta(all, notIssued)).toBeNull()
    expect(said(stallObstacle(all, notIssued)!)).toBe(
      'Stall reasons are not compared: the first profile uses all samples, the second uses the samples in cycles without an issued instruction. Profile both with the same version of ncu.',
    )
  })
})

describe.each([
  [NaN, 'NaN'],
  [Infinity, 'Infinity'],
])('a metric that ncu reported as %s', (bad, written) => {
  const name = 'sm__warps_active.avg.pct_of_peak_sustained_active'
  const [real] = printed.launches
  const figure = report.launches[0]!.metrics[name]!.value as number

  /**
   * Returns a launch of the real report in which the 8 bytes of `figure` are replaced with the
   * bytes of `bad`.
   */
  const inReport = (): NcuLaunch => {
    const [own, other] = [figure, bad].map((value) => {
      const eight = Buffer.alloc(8)
      eight.writeDoubleLE(value)
      return eight.toString('latin1')
    }) as [string, string]
    const changed = Buffer.from(bytes).toString('latin1').replaceAll(own, other)
    return parseNcuRep(new Uint8Array(Buffer.from(changed, 'latin1'))).launches[0]!
  }
  const inTable = (): NcuLaunch => {
    const text = ncuCapture('launches-two-rungs')
    const header = text.split('\n').findIndex((line) => line.includes(`"${name}"`))
    const rows = text.split('\n').map((line, at) => {
      if (at < header + 2 || !line.startsWith('"')) return line
      const cells = line.split('","')
      const column = text.split('\n')[header]!.split('","').indexOf(name)
      return cells.with(column, String(bad)).join('","')
    })
    return parseNcuRawCsv(rows.join('\n')).launches[0]!
  }

  it.each([
    ['report', inReport],
    ['table', inTable],
  ])('in a %s has a reason instead of a value', (_, read) => {
    const launch = read()
    expect(launch.kernelName).toBe(real!.kernelName)
    expect(launch.metrics[name]).toEqual({ value: null, unit: '%', reported: written })
    const { achievedOccupancy } = toMetrics([launch], 'card')
    expect(achievedOccupancy).toMatchObject({ value: null, evidence: 'unavailable' })
    expect(said(achievedOccupancy!.reason!)).toBe(
      `ncu reported ${written} for ${name} of the kernel ${launch.kernelName}.`,
    )
    expect(JSON.stringify(launch)).toContain(`"reported":"${written}"`)
  })
})
