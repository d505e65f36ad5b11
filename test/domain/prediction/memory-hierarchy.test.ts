import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  parameterValues,
  readGpuParameters,
} from '../../../src-main/domain/prediction/gpu-parameters'
import { MemoryHierarchy, type Sharing } from '../../../src-main/domain/prediction/memory-hierarchy'
import { SectorCache } from '../../../src-main/domain/prediction/sector-cache'

const file = join(import.meta.dirname, '../../../resources/gpus/h100.json')
const values = parameterValues(readGpuParameters(readFileSync(file, 'utf8'), file))
const alone: Sharing = { sms: 1, readers: 1, leftInL2: 0, l1Bytes: 65_536 }
const memory = (over: Partial<Sharing> = {}) => new MemoryHierarchy(values, { ...alone, ...over })

describe('a sectored cache', () => {
  it('returns the missing sectors', () => {
    const cache = new SectorCache(2)
    expect(cache.access(7, 0b0011)).toBe(0b0011)
    expect(cache.access(7, 0b0110)).toBe(0b0100)
    expect([cache.hits, cache.misses]).toEqual([1, 3])
  })

  it('replaces the least recently used line', () => {
    const cache = new SectorCache(2)
    for (const line of [1, 2, 1, 3]) cache.access(line, 1)
    expect(cache.access(1, 1)).toBe(0)
    expect(cache.access(2, 1)).toBe(1)
  })

  it('stores nothing if its capacity is 0', () => {
    const cache = new SectorCache(0)
    cache.access(1, 1)
    expect(cache.access(1, 1)).toBe(1)
  })
})

describe('a load', () => {
  it('reads from DRAM on the first access, and from L1 on the second access', () => {
    const own = memory()
    const first = own.load(0, 10, 1, true)
    expect(first).toBeGreaterThan(values.latencyDram)
    expect(own.load(5000, 10, 1, true)).toBe(5000 + values.latencyL1)
    expect(own.traffic).toMatchObject({ dramReadBytes: 32, l1Sectors: 2, l1Hits: 1 })
  })

  it('waits for a line that is being filled', () => {
    const own = memory()
    const first = own.load(0, 10, 1, true)
    expect(own.load(1, 10, 1, true)).toBe(first)
  })

  it('that bypasses L1 reads from L2 on the second access', () => {
    const own = memory()
    own.load(0, 10, 15, false)
    const again = own.load(5000, 10, 15, false) - 5000
    expect(again).toBeGreaterThanOrEqual(values.latencyL2)
    expect(again).toBeLessThan(values.latencyDram)
  })

  it('of data that several SMs read counts only its share of the DRAM bytes', () => {
    const own = memory({ sms: 132, readers: 4 })
    own.load(0, 10, 15, true)
    expect(own.traffic.dramReadBytes).toBe(32)
  })

  it("in a later wave finds the previous wave's data in L2", () => {
    const own = memory({ leftInL2: 1 })
    own.startLaterWave()
    own.load(0, 10, 15, true)
    expect(own.traffic.dramReadBytes).toBe(0)
  })
})

describe('a store', () => {
  it('of whole sectors transfers only the stored bytes', () => {
    const own = memory()
    own.store(0, 10, 15, 15, 32)
    own.finish()
    expect(own.traffic).toMatchObject({ dramReadBytes: 0, dramWriteBytes: 128 })
  })

  it('of parts that together fill a sector needs no DRAM read', () => {
    const own = memory()
    own.store(0, 10, 1, 0, 16)
    own.store(1, 10, 1, 0, 16)
    own.finish()
    expect(own.traffic.dramReadBytes).toBe(0)
  })

  it('of a partial sector also reads from DRAM', () => {
    const own = memory()
    own.store(0, 10, 1, 0, 16)
    own.finish()
    expect(own.traffic.dramReadBytes).toBeCloseTo(32 * (values.partialWriteCost - 1))
  })
})
