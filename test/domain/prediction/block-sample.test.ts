/** Tests block sampling for launches in which the work per block varies across the grid. */
import { describe, expect, it } from 'vitest'
import { spreadOver } from '../../../src-main/domain/emulator/spread'
import { compareClusters } from '../../../src-main/domain/prediction/block-sample'

describe('clusters sampled from a grid', () => {
  it('cover every quarter of the columns', () => {
    const [columns, rows] = [64, 16]
    const reached = spreadOver(columns * rows, 24).map((cluster) => cluster % columns)
    const quarters = new Set(reached.map((column) => Math.floor(column / (columns / 4))))
    expect(quarters.size).toBe(4)
    const mean = reached.reduce((sum, column) => sum + column, 0) / reached.length
    expect(mean).toBeGreaterThan(0.4 * columns)
    expect(mean).toBeLessThan(0.6 * columns)
  })

  it('are distinct, and include all clusters of a small grid', () => {
    expect(new Set(spreadOver(100, 99)).size).toBe(99)
    expect(spreadOver(3, 24)).toEqual([0, 1, 2])
  })
})

describe('compared clusters', () => {
  it('are recognized as equal from a small sample, or an even smaller one for large clusters', () => {
    const ran: number[] = []
    const work = compareClusters(1000, 500, (cluster) => (ran.push(cluster), 505))
    expect(work).toEqual({ differ: false, mean: 500, longest: 500, error: 0 })
    expect(ran.length).toBe(12)
    compareClusters(1000, 5e6, (cluster) => (ran.push(cluster), 5e6))
    expect(ran.length).toBe(14)
  })

  // In causal attention, for example, the work per block varies. A block's index within its head
  // determines how many keys the block reads.
  it.each([
    ['grows', (cluster: number) => 10 * (1 + (cluster % 64))],
    ['shrinks', (cluster: number) => 10 * (64 - (cluster % 64))],
  ])('estimate the overall mean if the work %s along each row', (_, instructionsOf) => {
    const work = compareClusters(1024, instructionsOf(0), instructionsOf)
    expect(work.differ).toBe(true)
    expect(Math.abs(work.mean / 325 - 1)).toBeLessThan(0.15)
    expect(work.error).toBeLessThan(0.2)
    expect(work.longest).toBeGreaterThan(550)
  })

  it('have a large error if few blocks do nearly all the work', () => {
    const work = compareClusters(1000, 10, (cluster) => (cluster >= 900 ? 10_000 : 10))
    expect(work.error).toBeGreaterThan(0.25)
  })
})
