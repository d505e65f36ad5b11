import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { derivedMetrics } from '../../../src-main/domain/analysis/derived-metrics'
import type { Launch } from '../../../src-main/domain/session/session'
import { said } from '../../said'

/** What the runner saw by capturing a launch, beside what ncu said of the same rung on the same GPU. */
const captured = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../captures/runner/h200/launches.json'), 'utf8'),
) as {
  device: { computeCapability: string; smCount: number }
  rungs: { rung: string; runner: Launch[]; ncu: Launch[]; metrics: Record<string, number> }[]
}

const launch = (
  over: Partial<Launch> = {},
  resources: Partial<Launch['resources']> = {},
): Launch => ({
  name: 'k',
  grid: [64, 1, 1],
  block: [256, 1, 1],
  resources: {
    registersPerThread: 64,
    staticSharedBytes: 0,
    dynamicSharedBytes: 0,
    barriers: null,
    carveOutBytes: null,
    clusterBlocks: 0,
    ...resources,
  },
  ...over,
})
const h200 = { computeCapability: '9.0', smCount: 132 }

describe.each(captured.rungs)('what $rung launches on an H200', ({ runner, ncu, metrics }) => {
  it('is seen by the runner as ncu sees it: grid, block, registers, shared memory, clusters', () => {
    const told = (launches: Launch[]) =>
      launches.map(({ grid, block, resources }) => {
        const { barriers: _, carveOutBytes: __, ...rest } = resources
        return { grid, block, ...rest }
      })
    expect(told(runner)).toEqual(told(ncu))
  })

  it('gives without counters what ncu measured, or no figure where that cannot be derived', () => {
    const derived = derivedMetrics(runner, captured.device)
    for (const [id, value] of Object.entries(metrics)) {
      const own = derived[id]!
      const clustered = runner.some(({ resources }) => (resources.clusterBlocks ?? 0) > 0)
      if (id === 'wavesPerSm' && clustered) {
        expect(own).toMatchObject({ value: null, evidence: 'unavailable' })
        expect(said(own.reason)).toMatch(/clusters/)
      } else {
        expect(own.evidence).toBe('derived')
        expect(Math.abs(own.value! - value), id).toBeLessThan(0.006)
      }
    }
  })
})

describe('figures from a launch', () => {
  const derivedOf = (launches: Launch[], device = h200) =>
    derivedMetrics(launches, device)['theoreticalOccupancy']

  it('are one figure for several kernels where they agree, and none where they do not', () => {
    expect(said(derivedOf([launch(), launch()]))).toMatchObject({ value: 50, evidence: 'derived' })
    expect(said(derivedOf([launch(), launch({}, { registersPerThread: 255 })]))).toEqual({
      value: null,
      unit: '%',
      evidence: 'unavailable',
      reason:
        'It launches 2 kernels that differ in this, and without counters it is unknown which of them runs longest.',
    })
  })

  it('are none for a GPU that the table does not hold, or registers that are not known', () => {
    expect(said(derivedOf([launch()], { computeCapability: '7.0', smCount: 80 })?.reason)).toMatch(
      /7\.0/,
    )
    expect(said(derivedOf([launch({}, { registersPerThread: null })])?.reason)).toMatch(/unknown/)
    expect(said(derivedOf([])?.reason)).toBe('It launches no kernel.')
  })
})
