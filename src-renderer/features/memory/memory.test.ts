import { expect, it } from 'vitest'
import { rung } from '../../../test/renderer/samples'
import { hasFigures, linkWidth, memoryFigures } from './memory'

const measured = (value: number, unit: string) => ({ value, unit, evidence: 'measured' }) as never

it('the memory map has bytes and rates only for collected counters', () => {
  const found = memoryFigures(
    rung('a', 2, {
      metrics: {
        sharedLoadWavefronts: measured(30, 'wavefronts'),
        sharedStoreWavefronts: measured(10, 'wavefronts'),
        dramBytes: measured(4e9, 'bytes'),
        l2HitRate: measured(80, '%'),
        dramUtilization: measured(41, '%'),
      },
    }),
  )
  expect(found.flows.shared.bytes).toBe(40 * 128)
  expect(found.flows.dram).toEqual({ bytes: 4e9, rate: 2e12 })
  expect(found.flows.l1).toEqual({ bytes: null, rate: null })
  expect(found.l2).toEqual({ busy: null, hit: 80 })
  expect(found.dram.busy).toBe(41)
  expect(hasFigures(found)).toBe(true)
})

it('the memory map has no shared-memory traffic unless both counters exist, and no rates without a time', () => {
  const found = memoryFigures(
    rung('a', null, {
      metrics: {
        sharedLoadWavefronts: measured(30, 'w'),
        l1Bytes: measured(7, 'bytes'),
      },
    }),
  )
  expect(found.flows.shared.bytes).toBeNull()
  expect(found.flows.l1).toEqual({ bytes: 7, rate: null })
  expect(hasFigures(memoryFigures(rung('b', 1)))).toBe(false)
})

it('the memory map scales link widths by the square root of the traffic', () => {
  expect(linkWidth(400, 400)).toBe(18)
  expect(linkWidth(100, 400)).toBe(9.5)
  expect(linkWidth(0, 400)).toBe(1)
  expect(linkWidth(null, 400)).toBe(1)
})
