import { expect, it } from 'vitest'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { launchResources } from '../../../src-main/parsers/ncu/ncu-launch'
import { ncuCapture } from '../captures'

const { launches } = parseNcuRawCsv(ncuCapture('import-set-full'))

it('says what one block of a launch holds, in bytes and counts', () => {
  expect(launches.map(launchResources)[0]).toEqual({
    registersPerThread: 32,
    staticSharedBytes: 8192,
    dynamicSharedBytes: 0,
    barriers: 1,
    carveOutBytes: 32768,
    clusterBlocks: 0,
  })
})

it('tells what is not there from none, and says nothing where nothing is told', () => {
  const { metrics } = launches[0]!
  const { launch__barrier_count: _, ...rest } = metrics
  expect(launchResources({ metrics: rest })).toMatchObject({
    barriers: null,
    dynamicSharedBytes: 0,
  })
  expect(launchResources({ metrics: {} })).toBeUndefined()
})
