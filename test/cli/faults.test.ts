/** A few cells of the matrix of faults; `npm run faults` strikes all, and docs/RELIABILITY.md has what came of it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { applies, closeBench, faults, openBench, stages, tryCell } from '../faults/faults'

let bench: Awaited<ReturnType<typeof openBench>>
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => closeBench(bench))

it.each([
  ['measure', 'SIGTERM'],
  ['build', 'SIGKILL'],
  ['import', 'out of descriptors'],
])('%s, struck by %s, loses nothing and leaves nothing', async (stageName, faultName) => {
  const stage = stages.find(({ name }) => name === stageName)!
  const fault = faults.find(({ name }) => name === faultName)!
  expect(applies(stage, fault)).toBe(true)
  expect(await tryCell(bench, stage, fault)).toEqual([])
})
