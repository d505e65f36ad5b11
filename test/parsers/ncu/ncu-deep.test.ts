import { describe, expect, it } from 'vitest'
import {
  DeepProfile,
  identicalSass,
  lineHeat,
  opcodeDelta,
  sassOfLine,
  stallDelta,
  type Work,
} from '../../../src-main/domain/session/deep'
import { type Counted, instructionsOf } from '../../../src-main/domain/session/registry-figures'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { toDeepProfiles } from '../../../src-main/parsers/ncu/ncu-deep'
import { parseSourcePage, type SourceSection } from '../../../src-main/parsers/ncu/ncu-source'
import { said } from '../../support'
import { ncuCapture } from '../../captures'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-advice'

const nothing = { sections: [], unreadable: 0 }
const page = ncuCapture('source-cuda-sass')
const rules = parseRules(ncuCapture('import-details'))
const { launches } = parseNcuRawCsv(ncuCapture('import-set-full'))
const nameOf = (path: string): string => path.split('/').pop()!

/** Returns a section whose properties throw an error if they are read. */
const guarded = (section: SourceSection): SourceSection =>
  Object.defineProperties(
    { ...section },
    Object.fromEntries(
      (['instructions', 'lines', 'unreadable'] as const).map((part) => [
        part,
        {
          get: () => {
            throw new Error('read')
          },
        },
      ]),
    ),
  )

/** Profiles from a capture of three launches, from which the second launch was removed. */
const profiles = toDeepProfiles(launches, {
  sass: nothing,
  lines: parseSourcePage(page),
  rules,
  nameOf,
})
const tile = profiles.get('03_a')!
const rest = profiles.get('04_b')!

describe("ncu's source page", () => {
  it('is read only for the requested rung, with a note about unreadable rows', () => {
    const cut = page.replace(/"(0|[1-9]\d*)"\r?\n/, '"$1","one cell too many"\n')
    const { sections, unreadable } = parseSourcePage(cut)
    expect([unreadable, ...sections.map((section) => section.unreadable)]).toEqual([0, 1, 0])
    const [first, last] = sections
    const some = toDeepProfiles(launches, {
      ...{ sass: nothing, rules, nameOf },
      lines: { sections: [first!, guarded(last!)], unreadable },
    })
    expect(said(some.get('03_a')!.notes).join()).toContain('1 row')
    expect(() => some.get('04_b')).toThrow('read')
  })

  it('lists each instruction once in address order, although ncu prints it twice', () => {
    const { instructions } = tile.kernels[0]!
    expect(instructions).toHaveLength(160)
    expect(instructions.map(({ offset }) => offset)).toEqual(instructions.map((_, i) => i * 16))
    expect(instructions[0]).toMatchObject({ text: 'LDC R1, c[0x0][0x28]', opcode: 'LDC' })
  })

  it('has each instruction’s counters as printed by ncu', () => {
    const store = tile.kernels[0]!.instructions.find(({ text }) => text === 'STS [R10], R17')
    expect(store).toMatchObject({
      offset: 0x290,
      file: 'probe.cu',
      line: 9,
      executed: 1048576,
      threadExecuted: 33554432,
      samples: 8750,
      notIssuedSamples: 6849,
      sharedWavefronts: 33554432,
      sharedWavefrontsIdeal: 1048576,
      sharedWavefrontsExcess: 32505856,
      globalL1Requests: 0,
      globalL2Sectors: 0,
    })
    const load = tile.kernels[0]!.instructions.find(({ opcode }) => opcode === 'LDG.E')
    expect(load).toMatchObject({ globalL1Requests: 1048576, globalL2Sectors: 4194304 })
  })

  it('splits all samples of an instruction by stall reason', () => {
    for (const { samples, stalls } of tile.kernels[0]!.instructions)
      expect(Object.values(stalls!).reduce((sum, value) => sum + value, 0)).toBe(samples)
  })

  it('has, for each line, the counter sums of its instructions', () => {
    const { lines, instructions } = tile.kernels[0]!
    expect(lines.map(({ line }) => line)).toEqual([6, 8, 9, 10, 11, 12])
    const figures = ['executed', 'samples', 'sharedWavefronts', 'globalL2Sectors'] as const
    for (const line of lines)
      for (const figure of figures)
        expect(
          instructions
            .filter((instruction) => instruction.line === line.line)
            .reduce((sum, instruction) => sum + instruction[figure]!, 0),
        ).toBe(line[figure])
  })

  it('shows jump targets as offsets, so that code does not depend on its load address', () => {
    const jumps = tile.kernels[0]!.instructions.filter(({ opcode }) => opcode === 'BRA')
    expect(jumps.map(({ text }) => text)).toEqual(['@!P0 BRA 0x8e0', '@!P0 BRA 0x210', 'BRA 0x900'])
    const elsewhere = toDeepProfiles(launches, {
      sass: nothing,
      lines: parseSourcePage(page.replaceAll('0x7f67037a', '0x7e1200fa')),
      rules,
      nameOf,
    })
    expect(identicalSass(tile, elsewhere.get('03_a')!)).toBe(true)
    expect(identicalSass(tile, rest)).toBe(false)
  })

  it('counts executed instructions by opcode, and excludes padding', () => {
    const { opcodes } = tile.kernels[0]!
    expect(opcodes).toMatchObject({ FFMA: 32 * 1048576, LDS: 64 * 1048576, 'LDG.E': 2 * 1048576 })
    expect(opcodes).not.toHaveProperty('NOP')
  })

  it('has no data for a missing kernel, but has data for the kernels after it', () => {
    const [second, last] = rest.kernels
    expect(second).toMatchObject({ instructions: [], lines: [], opcodes: null })
    expect(said(rest.notes)).toContain(`ncu showed no instructions for ${second!.name}.`)
    expect(last!.name).toBe('scale(float *, int)')
    expect(last!.opcodes).toMatchObject({ FADD: 32768 })
  })

  it('has null, not 0, for counters whose column is missing', () => {
    const bare = page.replaceAll('L1 Wavefronts Shared', 'X').replaceAll('stall_', 'x_')
    const [profile] = toDeepProfiles(launches, {
      sass: nothing,
      lines: parseSourcePage(bare),
      rules,
      nameOf,
    }).values()
    expect(profile!.kernels[0]!.instructions[0]).toMatchObject({
      sharedWavefronts: null,
      sharedWavefrontsIdeal: null,
      stalls: null,
      executed: 32768,
    })
  })

  /** The capture without its line and source columns, like a SASS-only page. */
  const sassOnly = page
    .split('\n')
    .filter((line) => /^"(","|Function|Line No)/.test(line) || /^"","","0x/.test(line))
    .map((line) => line.replace(/^("Line No","Source",|"","",)/, ''))
    .join('\n')

  it('provides a rung’s instruction counts without reading the source lines', () => {
    const { sections } = parseSourcePage(page)
    const report = toDeepProfiles(launches, {
      ...{ sass: parseSourcePage(sassOnly), rules, nameOf },
      lines: { sections: sections.map(guarded), unreadable: 0 },
    })
    const countsOf = (instructions: readonly Counted[]): string[] =>
      instructions
        .map(({ opcode, executed, sharedWavefrontsExcess }) =>
          [opcode, executed, sharedWavefrontsExcess].join(' '),
        )
        .sort()
    expect(countsOf(report.countedOf('03_a'))).toEqual(countsOf(instructionsOf(tile)))
    expect(report.countedOf('03_a').length).toBeGreaterThan(100)
    expect(() => report.get('03_a')).toThrow('read')
    // One kernel of 04_b is not on the page, so a sum over its other kernels would be too low.
    expect(report.countedOf('04_b')).toEqual([])
    expect(report.countedOf('nobody')).toEqual([])
  })

  it('uses the SASS view for the instructions, and the source view for their lines', () => {
    const sass = parseSourcePage(sassOnly)
    expect(sass.sections.map(({ file }) => file)).toEqual([null, null])
    const both = toDeepProfiles(launches, { sass, lines: parseSourcePage(page), rules, nameOf })
    expect(both.get('03_a')).toEqual(tile)
    const alone = toDeepProfiles(launches, { sass, lines: nothing, rules, nameOf }).get('03_a')!
    expect(alone.kernels[0]!.instructions[9]).toMatchObject({ file: null, line: null })
    expect(said(alone.notes).join()).toMatch(/without line information/)
  })

  it.each([
    ['empty', '', 0],
    ['no page at all', '==ERROR== No kernels were profiled.\nhello, world\n', 0],
    ['cut off in a row', page.slice(0, 9000), 1],
    ['with a quote in a line of source', page.replace('float s = 0;', 'char c = "";'), 2],
  ])('is parsed without an exception (%s)', (_what, text, sections) => {
    expect(parseSourcePage(text).sections).toHaveLength(sections)
  })

  it('yields profiles that match their schema and contain no paths from this machine', () => {
    for (const profile of profiles.values()) {
      expect(DeepProfile.parse(profile)).toEqual(profile)
      expect(JSON.stringify(profile)).not.toContain('/probe/')
    }
  })
})

describe('ncu’s recommendations', () => {
  it("are listed by launch, with ncu's estimated speedup", () => {
    expect([...rules.keys()]).toEqual([0, 1, 2])
    expect(tile.kernels[0]!.rules.map(({ name }) => name)).toContain('UncoalescedSharedAccess')
    expect(tile.kernels[0]!.rules.find(({ name }) => name === 'SharedMemoryConflicts')).toEqual({
      section: 'MemoryWorkloadAnalysis_Tables',
      name: 'SharedMemoryConflicts',
      kind: 'optimization',
      text: expect.stringContaining('16.7 - way bank conflict') as string,
      estimatedSpeedup: 89.51,
      speedupType: 'global',
    })
  })

  it('have null, not 0, as the speedup if ncu gives no estimate', () => {
    const bottleneck = tile.kernels[0]!.rules.find(({ name }) => name === 'SOLBottleneck')
    expect(bottleneck).toMatchObject({ kind: 'info', estimatedSpeedup: null, speedupType: null })
  })

  it.each(['', '==ERROR== nothing\n', '"ID","Process ID"\n'])('are empty for %j', (text) => {
    expect(parseRules(text).size).toBe(0)
  })
})

describe('queries on a deep profile', () => {
  it('return the hot lines, sorted by a chosen figure', () => {
    const [hottest, second] = lineHeat(tile, 'samples')
    expect(hottest).toMatchObject({ file: 'probe.cu', line: 10, value: 39599 })
    expect(hottest!.share).toBeCloseTo(39599 / 53558, 6)
    expect(second).toMatchObject({ line: 9 })
    expect(lineHeat(tile, 'sharedWavefrontsExcess')).toEqual([
      expect.objectContaining({ line: 9, value: 32505856, share: 1 }),
    ])
  })

  it("return a line's instructions", () => {
    const sass = sassOfLine(tile, 'probe.cu', 11).map(({ instruction }) => instruction.text)
    expect(sass).toEqual([
      'LDC.64 R2, c[0x0][0x220]',
      'IMAD R5, R9, R0, R4',
      'IMAD.WIDE R2, R5, 0x4, R2',
      'STG.E desc[UR8][R2.64], R15',
    ])
    expect(sassOfLine(tile, 'other.cu', 11)).toEqual([])
  })

  it('return the changes from one rung to another', () => {
    const work: Work = { ...tile.kernels[0]!.lines[0]! }
    const rung = (executed: number, stalls: Record<string, number>): DeepProfile => ({
      ...tile,
      kernels: [
        {
          ...tile.kernels[0]!,
          instructions: [{ ...tile.kernels[0]!.instructions[0]!, ...work, stalls }],
          opcodes: { FFMA: 100, LDS: executed },
        },
      ],
    })
    const [a, b] = [rung(300, { mio: 3, wait: 1 }), rung(100, { mio: 10, wait: 10 })]
    expect(opcodeDelta(a, b)).toEqual([
      { key: 'LDS', a: 300, b: 100, delta: -200, shareA: 0.75, shareB: 0.5 },
      { key: 'FFMA', a: 100, b: 100, delta: 0, shareA: 0.25, shareB: 0.5 },
    ])
    expect(stallDelta(a, b)![0]).toMatchObject({ key: 'mio', shareA: 0.75, shareB: 0.5 })
    expect(opcodeDelta(a, rest)).toBeNull()
    expect(identicalSass(a, { ...rest, kernels: [] })).toBeNull()
  })
})
