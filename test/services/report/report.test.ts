/** Tests reports on one and on two sessions. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'csv-parse/sync'
import { strFromU8, unzipSync } from 'fflate'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { inEnglish } from '../../../src-main/domain/text/english'
import { recordingsDir, tempDir } from '../support'
import { cardMetricIds } from '../../../src-main/domain/metrics/metrics'
import { Session } from '../../../src-main/domain/session/session'
import { parseChoice } from '../../../src-main/hosts/cli/parse-run-request'
import { textFormats } from '../../../src-main/domain/report/report-format'
import { report, reportComparison } from '../../../src-main/services/report'
import { buildReport, type ReportModel } from '../../../src-main/services/report/model'
import { reportSections } from '../../../src-main/domain/report/frozen-report'
import { headline } from '../../../src-main/domain/report/provenance'
import { reproduceCommand } from '../../../src-main/domain/session/commands'
import { scrubber } from '../../../src-main/services/report/scrub'
import {
  editRung,
  noPrivates,
  recording,
  type Sample,
  slowed,
  builtTemplate,
  withHostileStrings,
  withoutMetrics,
  withTroubles,
} from './samples'
import { gemmProblem } from '../../support'
import { isValid } from '../../json-schemas'
import { comparability } from '../../../src-main/domain/analysis/comparability'
import { answerReport, makeReport } from '../../../src-main/services/report/make'
import { type OpenedSession } from '../../../src-main/services/sessions/open-session'
import type { Sentence } from '../../../src-main/domain/messages/sentence'
import { ReportAnswer } from '../../../src-main/contract/reports'

describe("a session's report", () => {
  const model = (sample: Sample): ReportModel =>
    buildReport({ ...sample, scrub: scrubber(noPrivates), sections: reportSections, date: null })
  const words = (sentences: Sentence[]): string[] =>
    sentences.map((sentence) =>
      sentence.map((piece) => (typeof piece === 'string' ? piece : piece.code)).join(''),
    )

  it('shows burst columns only if bursts were timed', () => {
    const without = report(recording(), { format: 'md' }, noPrivates)
    expect(without).not.toContain('Burst')
    const sample = recording()
    const { timing } = sample.session.rungs.find(({ id }) => id === '06_float4')!
    timing!.burst = {
      cacheState: 'warm',
      ...{ launches: 8, restSeconds: 1, medianMs: 2.5, samplesMs: [2.5], gflops: 55e3 },
      ...{ ratioToReference: 0.75, referenceMedianMs: 1.875 },
    }
    const md = report(sample, { format: 'md' }, noPrivates)
    expect(md).toContain('| Rung | Burst | To reference ○ |')
    expect(md).toMatch(/^\| `06_float4` \| 2\.50 ms \| 0\.750× \|$/m)
    const rows: string[][] = parse(report(sample, { format: 'csv' }, noPrivates))
    expect(rows).toContainEqual(
      expect.arrayContaining(['06_float4', 'timing.burst.ratioToReference', '0.75', '×']),
    )
  })

  it('shows sustained launches with clock and power', () => {
    const sample = recording()
    const { timing } = sample.session.rungs.find(({ id }) => id === '06_float4')!
    const gpu = {
      ...{ smClockLowMHz: 1600, smClockHighMHz: 1700, memoryClockMHz: null, temperatureC: 60 },
      ...{ powerW: 700, powerLimitW: 700, heldDownBy: ['powerCap' as const] },
    }
    timing!.sustained = {
      ...{ cacheState: 'warm', seconds: 2, medianMs: 3.6, spread: 0.001, gflops: 38e3 },
      ...{ ratioToReference: 0.81, referenceMedianMs: 2.9, smClockMHz: 1665, powerW: 689.6, gpu },
    }
    const md = report(sample, { format: 'md' }, noPrivates)
    expect(md).toContain('| Rung | Sustained | To reference ○ | SM clock | Power |')
    expect(md).toMatch(/^\| `06_float4` \| 3\.60 ms \| 0\.810× \| 1665 MHz \| 690 W \|$/m)
    const tex = report(sample, { format: 'tex' }, noPrivates)
    expect(tex).toContain('\\caption{Bursts and sustained launches.')
    expect(tex).toContain('3.60 ms & 0.810$\\times$ & 1665 MHz & 690 W \\\\')
    const rows: string[][] = parse(report(sample, { format: 'csv' }, noPrivates))
    expect(rows).toContainEqual(
      expect.arrayContaining(['06_float4', 'timing.sustained.powerW', '689.6', 'W']),
    )
  })

  it("includes the L2 contents, both times of each ratio, each step's base, and notes on times", () => {
    const sample = recording()
    sample.session.settings.cacheState = 'cold'
    const own = sample.session.rungs.find(({ id }) => id === '05_thread_tile_2d')!
    own.after = '02_coalesced'
    Object.assign(own.timing!, { settled: false, late: 3, referenceMedianMs: 2.7 })
    const md = report(sample, { format: 'md' }, noPrivates)
    expect(md).toContain('CUDA events, the median, L2 cold;')
    expect(md).toMatch(/`05_thread_tile_2d` .* \| 2\.70 ms \| .* \| [\d.]+× from 02\\_coalesced \|/)
    expect(md).toContain('- `05_thread_tile_2d`: did not settle, 3 late launches left out\n')
    const tex = report(sample, { format: 'tex' }, noPrivates)
    expect(tex).toContain('L2 cold;')
    expect(tex).toContain(
      '\\texttt{05\\_thread\\_tile\\_2d}: did not settle, 3 late launches left out.',
    )
    const rows: string[][] = parse(report(sample, { format: 'csv' }, noPrivates))
    expect(rows).toContainEqual(expect.arrayContaining(['', 'cacheState', 'cold']))
    const step = rows.find(([rung, metric]) => rung === own.id && metric === 'step')
    expect(Number(step![2])).toBeGreaterThan(1)
  })

  it('does not rank times against different L2 contents, but shows the command to measure again', () => {
    const other = recording()
    other.session.settings.cacheState = 'cold'
    for (const { timing } of other.session.rungs) if (timing) timing.cacheState = 'cold'
    const both = reportComparison(recording(), other, { format: 'md' }, noPrivates)
    expect(both).toContain(
      'The times are not ranked: L2 was warm in one session and cold in the other.',
    )
    expect(both).toContain('It could not be decided whether any rung in both sessions')
    expect(both).not.toMatch(/\d got faster|▲ better|▼ worse/)
    expect(both).toMatch(/`06_float4` \| 3\.41 ms \| 3\.41 ms \| – \|.*\? unknown \|/)
  })

  it("shows each kernel's GPU time under ncu, and the command to profile the program again", async () => {
    const session = await readSession(join(recordingsDir, 'feed-forward-h200'))
    const sample = { session, sources: {} }
    const md = report(sample, { format: 'md' }, noPrivates)
    expect(md).toContain('| GPU time under ncu | Share ○ | Launches | Median launch |')
    expect(md).toMatch(/^\| `06_nvjet\w+` \| .* \| ok \| 53\.4 µs \| 12\.6 % \| 2 \| 26\.7 µs \|$/m)
    expect(md).toContain('kernel-ladder profile --profile standard -- python3 block.py\n')
    expect(md).not.toContain('SHA-256')
    const tex = report(sample, { format: 'tex' }, noPrivates)
    expect(tex).toContain('Rung & What & GPU time & Share')
    expect(tex).toContain('\\begin{tabular}{llrrrr}')
    const filters = { kernels: 'gemm|norm', nvtx: 'step', skip: 3, count: 20 }
    const filtered = { ...session, program: { ...session.program!, filters } }
    expect(reproduceCommand(filtered)).toBe(
      "kernel-ladder profile --kernels 'gemm|norm' --nvtx step --skip 3 --count 20 --profile standard -- python3 block.py",
    )
  })

  describe('the summary', () => {
    it('names the best rung and three largest steps with counters, and notes that all were faster', () => {
      const { best, jumps, unpaid, allPaid } = model(recording()).summary
      expect(words(best)).toEqual([
        'Best rung: 06_float4 (128-bit access), 3.41 ms ± 0.06 %, 40.3 TFLOP/s; it reaches 0.788× (± 0.08 %) of the throughput of the reference 00_cublas.',
        '06_float4 against 00_cublas: single launches 0.788×.',
        'The total speedup from 01_naive to 06_float4 is 80.8× (steps: 5).',
      ])
      expect(words(jumps)).toEqual([
        '02_coalesced is 11.8× (± 0.02 %) as fast as 01_naive. The FMA pipe is busy for 26.8 % of the active cycles instead of 2.3 %, 11.9×.',
        '04_thread_tile_1d is 2.28× (± 0.07 %) as fast as 03_shared_tile. The FMA pipe is busy for 32.1 % of the active cycles instead of 14.1 %, 2.28× (Shared-memory loads 2.68 G → 805 M).',
        '05_thread_tile_2d is 1.56× (± 0.1 %) as fast as 04_thread_tile_1d. The FMA pipe is busy for 48.5 % of the active cycles instead of 32.1 %, 1.51× (Shared-memory loads 805 M → 134 M).',
      ])
      expect(unpaid).toEqual([])
      expect(allPaid).toBe(true)
    })

    it('falls back to the header’s prediction if no counter explains the step', () => {
      const sample = recording()
      for (const { metrics } of sample.session.rungs) delete metrics['fmaUtilization']
      expect(words(model(sample).summary.jumps)[1]).toBe(
        '04_thread_tile_1d is 2.28× (± 0.07 %) as fast as 03_shared_tile. Shared-memory loads: 2.68 G → 805 M, as the rung’s header predicted.',
      )
    })

    it('lists the factors behind each speedup, and the first causes in a comparison', () => {
      const md = report(recording(), { format: 'md' }, noPrivates)
      expect(md).toMatch(
        /Why, as factors that multiply to [\d.]+× as fast:\n\n- \*\*[\d.]+×\*\* The FMA pipe is busy for 32\.1 % of the active cycles/,
      )
      expect(md).toMatch(/The standard level .* collects limits and stall reasons\./)
      const busy = { value: 31.25, unit: '%', evidence: 'measured' } as const
      const other = slowed(recording(), '06_float4', 2)
      editRung(other, '06_float4', { metrics: { fmaUtilization: busy } })
      const both = reportComparison(recording(), other, { format: 'md' }, noPrivates)
      expect(both).toMatch(
        /First causes:\n\n- `06_float4`: The FMA pipe is busy for only 31\.3 % of the active cycles instead of 62\.5 %/,
      )
    })

    it('lists steps that were not faster, except changes within the spread', () => {
      const sample = slowed(slowed(recording(), '06_float4', 2), '03_shared_tile', 1.49, 0.2)
      const [slower, level] = words(model(sample).summary.unpaid)
      expect(slower).toMatch(/^06_float4 is slower than 05_thread_tile_2d: 4\.42 ms → 6\.82 ms/)
      expect(level).toBe(
        'The times of 03_shared_tile and 02_coalesced differ by no more than their spread or half a percent.',
      )
    })

    it("quotes the ladder's note about a rung that was not faster", () => {
      const sample = slowed(slowed(recording(), '06_float4', 2), '03_shared_tile', 1.49, 0.2)
      for (const entry of sample.session.ladder.rungs) entry.note = `A note on ${entry.id}.`
      const [slower, level] = words(model(sample).summary.unpaid)
      expect(slower).toMatch(/A note on 06_float4\.$/)
      expect(level).toMatch(/ A note on 03_shared_tile\.$/)
    })

    it('calls a rung faster only if all kinds of timing agree beyond the spread', () => {
      const place = (ratio: number): string => {
        const sample = recording()
        const rung = sample.session.rungs.find(({ id }) => id === '06_float4')!
        rung.timing!.ratioToReference = ratio
        return words(model(sample).summary.best).slice(0, 2).join(' ')
      }
      expect(place(1.2)).toMatch(/reference 00_cublas\. .* run with --timing all\.$/)
      expect(place(1.0005)).toContain('reference 00_cublas. The difference is within the spread.')
    })

    it('has no ratio to the reference for a rung with different input types', async () => {
      const session = await readSession(join(recordingsDir, 'seed-rtx3060-h200-4096'))
      const [best, claim] = words(model({ session, sources: {} }).summary.best)
      expect(best).toMatch(/^Best rung: 52_wmma_warp_tile .*109 TFLOP\/s\.$/)
      expect(claim).toBe('38_thread_patch against 00_cublas: single launches 0.199×.')
    })

    it('never explains a step with noise from an idle unit', async () => {
      const session = await readSession(join(recordingsDir, 'layer-norm-h200'))
      const { jumps } = model({ session, sources: {} }).summary
      expect(words(jumps)[0]).toMatch(/^02_block_per_row is 18\.4× .*DRAM is busy for/)
      expect(words(jumps)[0]).not.toContain('Tensor pipe')
    })

    it('reports missing counters and missing times', () => {
      expect(words(model(withoutMetrics()).summary.jumps)[0]).toContain(
        'None of the collected counters',
      )
      const sample = recording()
      for (const rung of sample.session.rungs) rung.timing = null
      const { best, jumps, allPaid } = model(sample).summary
      expect(words(best)).toEqual(['No rung was verified and timed, so there is no best rung.'])
      expect([jumps, allPaid]).toEqual([[], false])
    })
  })

  describe('the problem', () => {
    const problem = ({ facts }: ReportModel) => facts.find(({ id }) => id === 'problem')!.value

    it('with several sizes is identified by its label and the size names', () => {
      expect(problem(model(recording()))).toMatch(/, 4096³ \(m 4096, n 4096, k 4096\), alpha 1, /)
    })

    it("with a single size is identified by the size's name, even in an older session", async () => {
      const session = await readSession(join(recordingsDir, 'reduction-h200'))
      const own = model({ session, sources: {} })
      expect(problem(own)).toMatch(/, N = 67108864$/)
      expect(inEnglish(headline(session))).toMatch(/ at N = 67108864$/)
    })
  })

  describe('the reproduction command', () => {
    it('contains the rungs, the size, and the level', () => {
      expect(reproduceCommand(recording().session)).toBe(
        'kernel-ladder run --ladder gemm-fp32 --rungs 00_cublas,01_naive,02_coalesced,03_shared_tile,04_thread_tile_1d,05_thread_tile_2d,06_float4 --size 4096 --profile card --warm',
      )
    })

    it('contains only non-default values, and only parameters that affect no other rung', () => {
      const { session } = recording()
      session.problem = gemmProblem(3, 4096, 4096, { beta: 0.5 })
      session.settings.cacheState = 'warm'
      for (const { params } of session.ladder.rungs) if (params.TILE) params.TILE = 16
      session.ladder.rungs.find(({ id }) => id === '05_thread_tile_2d')!.params.BK = 16
      const command = reproduceCommand(session)
      expect(command).toContain(
        '--at m=3 --at n=4096 --at k=4096 --at beta=0.5 --param TILE=16 --profile card',
      )
      expect(command).toMatch(/ --warm$/)
      // Parse the command as `run` does for a task without its own options.
      const words = command.split(' ')
      expect(
        parseChoice({ at: words.filter((_, index) => words[index - 1] === '--at') }, []),
      ).toEqual({ at: { m: 3, n: 4096, k: 4096, beta: 0.5 } })
      expect(command).not.toContain('BK=')
    })

    it("contains a ladder folder's full path, or only its name in a report", () => {
      const { session, sources } = recording()
      session.ladder.folder = '/home/mallory/my lab/'
      expect(reproduceCommand(session)).toContain(` --ladder '/home/mallory/my lab/' --rungs `)
      const { facts } = model({ session, sources })
      const fact = (id: string) => facts.find((one) => one.id === id)!.value
      expect(fact('reproduce')).toContain(` --ladder './my lab' --rungs `)
      expect(fact('ladder')).toMatch(/^gemm-fp32 \(.+\), the ladder folder \.\/my lab$/)
    })

    it('quotes the name of an imported file for a shell', () => {
      const { session } = recording()
      session.target = { kind: 'imported', name: "it's $(x).ncu-rep" }
      expect(reproduceCommand(session)).toBe(`kernel-ladder import 'it'\\''s $(x).ncu-rep'`)
    })
  })

  describe('every format', () => {
    it.each(textFormats)('produces the same bytes for the same session: %s', (format) => {
      expect(report(recording(), { format })).toBe(report(recording(), { format }))
    })

    it.each(textFormats)(
      'handles failures, malicious text, and missing metrics, rungs, or GPUs: %s',
      (format) => {
        const empty = recording()
        empty.session.rungs = []
        empty.session.device = null
        for (const sample of [withTroubles(), withoutMetrics(), empty, withHostileStrings()]) {
          const text = report(sample, { format, wide: true }, noPrivates)
          expect(text.length).toBeGreaterThan(100)
          expect(text).not.toMatch(/undefined|NaN|\[object/)
          // The text must have no characters that hide text, change the reading direction, or
          // control a terminal.
          expect(text.replaceAll(/\r\n|\n|\t/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
        }
      },
    )
  })

  describe('JSON', () => {
    it('contains the session with all its figures', () => {
      const { session, sources } = recording()
      expect(JSON.parse(report({ session, sources }, { format: 'json' }, noPrivates))).toEqual(
        session,
      )
    })

    it('writes hidden characters as escapes that preserve their value', () => {
      const sample = recording()
      sample.session.warnings = ['a\u202eb\u{e0041}']
      const text = report(sample, { format: 'json' }, noPrivates)
      expect(text).toContain('a\\u202eb\\udb40\\udc41')
      expect((JSON.parse(text) as Session).warnings).toEqual(sample.session.warnings)
    })

    it('matches the published schema', () => {
      for (const sample of [recording(), withTroubles(), withHostileStrings()]) {
        const value: unknown = JSON.parse(report(sample, { format: 'json' }))
        expect(isValid('session', value)).toBe(true)
        expect(Session.safeParse(value).error).toBeUndefined()
      }
      expect(isValid('session', { ...recording().session, rungs: [{}] })).toBe(false)
    })
  })
})

describe('two sessions', () => {
  const compare = (a: Sample, b: Sample, format: 'md' | 'csv' | 'json' | 'tex'): string =>
    reportComparison(a, b, { format }, noPrivates)

  describe('the comparability check', () => {
    it('has no warnings if a session is compared with itself', () => {
      expect(comparability(recording().session, recording().session)).toEqual({
        refusals: [],
        warnings: [],
      })
    })

    it('rejects a different ladder, problem, or data type', () => {
      const other = recording()
      other.session.ladder.id = 'gemm-f16'
      other.session.problem = gemmProblem(4096, 4096, 1024, { dtype: 'f16' })
      expect(() => compare(recording(), other, 'md')).toThrow(
        /cannot be compared. The ladders differ: gemm-fp32 and gemm-f16. The problems differ: 4096³.*The sessions differ in the type of the inputs: f32 and f16/,
      )
    })

    it('warns about a different GPU, driver, clock, compiler, profiler, or import', () => {
      const { session } = recording()
      session.device = { ...session.device!, name: 'NVIDIA B200', driver: '590.1' }
      session.tools = { nvcc: '13.1', ncu: null }
      for (const { timing } of session.rungs)
        Object.assign(timing!, { smClockBeforeMHz: 1200, smClockAfterMHz: 1200 })
      const { refusals, warnings } = comparability(recording().session, session)
      expect({ refusals, warnings: warnings.map(inEnglish) }).toEqual({
        refusals: [],
        warnings: [
          'The GPUs differ: NVIDIA H200 and NVIDIA B200.',
          'Across GPUs, counters and shares of each GPU’s peak can be compared; times cannot.',
          'The driver versions differ: 580.159.04 and 590.1.',
          'The SM clocks differ: 1980 MHz and 1200 MHz.',
          'The compiler (nvcc) versions differ: 13.0.88 and 13.1.',
          'The profiler (ncu) versions differ: 2025.3.1.0 and unknown.',
        ],
      })
    })
  })

  describe('side by side', () => {
    it('are rejected if they have no rung in common', () => {
      const now = recording()
      now.session.rungs = []
      expect(() => compare(recording(), now, 'md')).toThrow(/no rung in common/)
    })

    const after = (): Sample => {
      const sample = slowed(recording(), '06_float4', 1.1)
      sample.session.device!.driver = '<b>590'
      sample.session.rungs.at(-1)!.params = { BM: 64 }
      sample.sources['06_float4'] += '// changed\n'
      return editRung(sample, '01_naive', { timing: null, status: 'failed', reason: 'It crashed.' })
    }

    it('list the warnings, times, changes, and source diff in Markdown, in this order', () => {
      const text = compare(recording(), after(), 'md')
      expect(text).toContain(
        '> **Warning:** The driver versions differ: 580.159.04 and &lt;b&gt;590.',
      )
      expect(text).toContain('- `01_naive` was ok and is now failed. It crashed.')
      expect(text).toMatch(/\| `06_float4` \| 3\.41 ms \| 3\.75 ms \| 0\.909× \|.*▼ worse \|/)
      expect(text).toContain(
        'has different parameters: `BK=8 BM=128 BN=128 TM=8 TN=8` and `BM=64`.',
      )
      expect(text).toContain('```diff\n')
      expect(text).toContain('\n+// changed\n')
    })

    it('have both values of each metric in CSV', () => {
      const rows: Record<string, string>[] = parse(compare(recording(), after(), 'csv'), {
        columns: true,
      })
      const time = rows.find(
        ({ rung, metric }) => rung === '06_float4' && metric === 'timing.medianMs',
      )
      expect(time).toMatchObject({ a: '3.41180801', unit: 'ms', verdict: 'worse' })
      expect(Number(time?.['b/a'])).toBeCloseTo(1.1)
    })

    it('have the warnings, times, and verdicts in JSON and LaTeX', () => {
      const { warnings, rungs } = JSON.parse(compare(recording(), after(), 'json')) as {
        warnings: { text: string }[]
        rungs: { id: string; time: { verdict: string } }[]
      }
      expect(warnings.map(({ text }) => text)).toEqual([
        'The driver versions differ: 580.159.04 and <b>590.',
      ])
      expect(rungs.find(({ id }) => id === '06_float4')?.time.verdict).toBe('worse')
      expect(compare(recording(), after(), 'tex')).toContain(
        '\\texttt{06\\_float4} & 3.41 ms & 3.75 ms & 0.909$\\times$ & 0.1 \\% \\\\',
      )
    })
  })
})

describe('options', () => {
  const opened = (): OpenedSession => ({
    ...recording(),
    folder: '',
    deep: () => Promise.resolve(null),
  })
  const tools = {
    assets: { reportTemplate: join('/', 'nope', 'template.html') } as never,
    printPdf: () => Promise.resolve(Uint8Array.of(0, 255, 10)),
    places: { assets: { reportTemplate: join('/', 'nope', 'template.html') } } as never,
    drawInPage: () => Promise.resolve({ drawings: [], words: '' }),
  }
  const svg = '<svg width="643" height="416" xmlns="http://www.w3.org/2000/svg"></svg>'

  describe("the author's choices", () => {
    const words: string[][] = []
    /** Returns a fake browser that draws every requested chart except waves. */
    const drawing = async () => {
      const file = join(await tempDir(), 'template.html')
      await writeFile(file, builtTemplate)
      words.length = 0
      return {
        ...tools,
        places: { assets: { reportTemplate: file } } as never,
        drawInPage: (_html: string, asked: readonly string[]) => {
          words.push([...asked])
          return Promise.resolve({
            drawings: asked.map((word) =>
              word === 'waves' ? null : { svg, label: `${word} in words` },
            ),
            words: '',
          })
        },
      }
    }
    const make = async (choice: object) =>
      makeReport(await drawing(), [opened()], { format: 'md', pictures: 'files', ...choice })

    it('are in the text, with the charts in the chosen order', async () => {
      const { content, pictures } = await make({
        title: 'Our *kernels*',
        notes: ['One.\n\nTwo.'],
        charts: ['stalls:share', 'throughput', 'registersPerThread'],
        captions: { 'stalls:share': 'What they wait for' },
      })
      const text = String(content)
      expect(text.split('\n\n').slice(0, 4)).toEqual([
        '# Our \\*kernels\\*',
        'FP32 matrix multiplication at 4096³ FP32 on NVIDIA H200',
        'One.',
        'Two.',
      ])
      expect(words).toEqual([['stalls:share']])
      expect(pictures.map(({ name }) => name)).toEqual([
        'stalls-share.svg',
        'throughput.svg',
        'registersPerThread.svg',
      ])
      expect(text).toContain(
        '![stalls:share in words](files/stalls-share.svg)\n\n_What they wait for_',
      )
      const shown = [...text.matchAll(/\]\(files\/([^)]+)\)/g)].map(([, name]) => name)
      expect(shown).toEqual(pictures.map(({ name }) => name))
    })

    it('require a browser only for a chart from the Charts screen, and never for a preview', async () => {
      await make({})
      await make({ charts: ['throughput'] })
      await make({ charts: ['roofline'], isPreview: true })
      await make({ charts: ['roofline'], sections: ['ladder'] })
      expect(words).toEqual([])
    })

    it('are rejected for a chart without data, an unknown chart, or a caption without a chart', async () => {
      const refused = (choice: object) =>
        expect(make(choice)).rejects.toMatchObject({ kind: 'input' })
      await refused({ charts: ['nope'] })
      await refused({ charts: ['stalls:nope'] })
      await refused({ charts: ['waves'] })
      await refused({ charts: ['roofline'], captions: { stalls: 'x' } })
      // A caption for a missing chart is also an error with the default charts.
      await refused({ captions: { registersPerThread: 'x' } })
      await refused({ captions: { roofline: 'x' } })
      await expect(make({ captions: { throughput: 'x' } })).resolves.toBeDefined()
    })

    it('default to bar charts of the lead counter and the card counters', async () => {
      const { pictures } = await make({})
      expect(pictures.map(({ name }) => name.replace('.svg', ''))).toEqual([
        'throughput',
        ...pictures
          .slice(1)
          .map(({ name }) => name.replace('.svg', ''))
          .filter((id) => cardMetricIds.some((card) => card === id)),
      ])
      expect(pictures.length).toBeGreaterThan(4)
    })

    it('are included in LaTeX, with counters and causes, if their sections are chosen', async () => {
      const tex = async (choice: object) =>
        String(
          (await makeReport(await drawing(), [opened()], { format: 'tex', ...choice })).content,
        )
      const whole = await tex({ title: 'A 5 % step', notes: ['See $x$.'] })
      expect(whole).toContain('\\caption{A 5 \\% step. FP32 matrix multiplication at')
      expect(whole).toContain('See \\$x\\$.')
      expect(whole).toContain('\\caption{Counters')
      expect(whole).toMatch(/\\item \\textbf\{[\d.]+\$\\times\$\}/)
      expect(whole.match(/\\begin\{/g)).toHaveLength(whole.match(/\\end\{/g)!.length)
      const counters = await tex({ sections: ['matrix'] })
      expect(counters).not.toContain('\\item')
      expect(counters).toContain('\\caption{Counters')
    })
  })

  describe('a report for a UI', () => {
    it('is returned as text or base64, with a file name', async () => {
      const text = await answerReport(tools, [opened()], { format: 'csv' })
      expect(ReportAnswer.parse(text)).toMatchObject({
        name: 'gemm-fp32-4096-20261121-032713.csv',
        encoding: 'text',
        mediaType: 'text/csv',
      })
      expect(text.content).toContain('06_float4')
      const bytes = await answerReport(tools, [opened()], { format: 'pdf' })
      expect(bytes).toMatchObject({ encoding: 'base64', content: 'AP8K' })
      const other = opened()
      other.session.id = '../../<b>'
      const both = await answerReport(tools, [opened(), other], { format: 'md' })
      expect(both.name).toBe('gemm-fp32-4096-20261121-032713-beside--b-.md')
    })

    it('is a zip file with reproducible bytes if it is in Markdown with pictures', async () => {
      const make = (choice: object) =>
        answerReport(tools, [opened()], { format: 'md', pictures: true, ...choice })
      const zip = await make({})
      const name = 'gemm-fp32-4096-20261121-032713'
      expect(zip).toMatchObject({ name: `${name}.zip`, mediaType: 'application/zip' })
      const files = unzipSync(Buffer.from(zip.content, 'base64'))
      const text = strFromU8(files[`${name}.md`]!)
      const shown = [...text.matchAll(/\]\(([^)]+\.svg)\)/g)].map(([, path]) => path)
      expect(shown.length).toBeGreaterThan(3)
      expect(Object.keys(files)).toEqual([`${name}.md`, ...shown])
      for (const path of shown) expect(strFromU8(files[path!]!)).toMatch(/^<svg /)
      expect((await make({})).content).toBe(zip.content)
      // A report without charts has no image files.
      expect((await make({ sections: ['ladder'] })).mediaType).toBe('text/markdown')
    })

    it('is rejected if data is missing, or if the sessions cannot be compared', async () => {
      await expect(answerReport(tools, [opened()], { format: 'html' })).rejects.toMatchObject({
        kind: 'missing',
      })
      const other = opened()
      other.session.ladder.id = 'another'
      await expect(answerReport(tools, [opened(), other], { format: 'pdf' })).rejects.toMatchObject(
        {
          kind: 'input',
          message: expect.stringContaining('cannot be compared') as string,
        },
      )
    })
  })
})
