import { describe, expect, it } from 'vitest'
import { smLimits } from '../../../src-main/domain/gpu/sm-limits'
import {
  blocksOfFirstSm,
  planLaunch,
  smOfBlock,
  type LaunchShape,
} from '../../../src-main/domain/prediction/launch-plan'

const shape: LaunchShape = {
  ...{ blocks: 1024, threads: 256, registers: 64 },
  ...{ staticSharedBytes: 0, dynamicSharedBytes: 0, clusterBlocks: 1 },
}
const h100 = { smCount: 132, l1Bytes: 256 * 1024 }
const plan = (over: Partial<LaunchShape> = {}) =>
  planLaunch({ ...shape, ...over }, smLimits('9.0')!, h100)!

describe('a launch plan', () => {
  it('contains the resident blocks per SM and the clusters of the busiest SM', () => {
    expect(plan()).toMatchObject({ resident: 4, clustersOfSm: 8, sms: 132, clustersPerWave: 528 })
  })

  it('uses one SM per block if a launch has fewer blocks than SMs', () => {
    expect(plan({ blocks: 10 })).toMatchObject({ resident: 1, clustersOfSm: 1, sms: 10 })
  })

  it('assigns one SM to each block of a cluster', () => {
    const own = plan({ clusterBlocks: 2 })
    expect(own).toMatchObject({ sms: 132, clustersOfSm: 8 })
    expect(blocksOfFirstSm(own, 2)).toEqual([0, 1, 132, 133])
    expect([smOfBlock(own, 0), smOfBlock(own, 1), smOfBlock(own, 133)]).toEqual([0, 1, 1])
  })

  it('assigns the unused shared memory to L1', () => {
    const most = plan()
    const least = plan({ dynamicSharedBytes: 100 * 1024 })
    expect(most.l1Bytes).toBeGreaterThan(240 * 1024)
    expect(least.l1Bytes).toBeLessThan(64 * 1024)
  })

  it('is null if no block fits', () => {
    expect(
      planLaunch({ ...shape, threads: 1024, registers: 255 }, smLimits('9.0')!, h100),
    ).toBeNull()
  })
})
