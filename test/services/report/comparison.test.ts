import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { comparability } from '../../../src-main/domain/analysis/comparability'
import { inEnglish } from '../../../src-main/domain/text/wording'
import { reportComparison } from '../../../src-main/services/report'
import { editRung, noPrivates, recording, slowed, type Sample } from './samples'
import { gemmProblem } from '../../gemm'

const compare = (a: Sample, b: Sample, format: 'md' | 'csv' | 'json' | 'tex'): string =>
  reportComparison(a, b, { format }, noPrivates)

describe('whether two sessions may be compared', () => {
  it('is said of the same one without a word', () => {
    expect(comparability(recording().session, recording().session)).toEqual({
      refusals: [],
      warnings: [],
    })
  })

  it('is refused for another ladder, problem or data type', () => {
    const other = recording()
    other.session.ladder.id = 'gemm-f16'
    other.session.problem = gemmProblem(4096, 4096, 1024, { dtype: 'f16' })
    expect(() => compare(recording(), other, 'md')).toThrow(
      /cannot be compared. The ladders differ: gemm-fp32 and gemm-f16. The problems differ: 4096³.*The sessions differ in the type of the inputs: f32 and f16/,
    )
  })

  it('is warned of for another GPU, driver, clock, compiler, profiler or import', () => {
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
        'The driver versions differ: 580.159.04 and 590.1.',
        'The SM clocks differ: 1980 MHz and 1200 MHz.',
        'The compiler (nvcc) versions differ: 13.0.88 and 13.1.',
        'The profiler (ncu) versions differ: 2025.3.1.0 and unknown.',
      ],
    })
  })
})

describe('two sessions side by side', () => {
  it('are refused without a rung in common', () => {
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

  it('md: warnings first, the times, what changed, and the source diff', () => {
    const text = compare(recording(), after(), 'md')
    expect(text).toContain(
      '> **Warning:** The driver versions differ: 580.159.04 and &lt;b&gt;590.',
    )
    expect(text).toContain('- `01_naive` was ok and is now failed. It crashed.')
    expect(text).toMatch(/\| `06_float4` \| 3\.41 ms \| 3\.75 ms \| 0\.909× \|.*▼ worse \|/)
    expect(text).toContain('has different parameters: `BK=8 BM=128 BN=128 TM=8 TN=8` and `BM=64`.')
    expect(text).toContain('```diff\n')
    expect(text).toContain('\n+// changed\n')
  })

  it('csv: both values of each metric', () => {
    const rows: Record<string, string>[] = parse(compare(recording(), after(), 'csv'), {
      columns: true,
    })
    const time = rows.find(
      ({ rung, metric }) => rung === '06_float4' && metric === 'timing.medianMs',
    )
    expect(time).toMatchObject({ a: '3.41180801', unit: 'ms', verdict: 'worse' })
    expect(Number(time?.['b/a'])).toBeCloseTo(1.1)
  })

  it('json and tex', () => {
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
