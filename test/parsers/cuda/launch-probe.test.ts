import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Launch } from '../../../src-main/domain/session/session'
import { parseProbedLaunches } from '../../../src-main/parsers/cuda/launch-probe'

const captured = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../captures/launch-probe/13.0.88/h200.json'), 'utf8'),
) as { rungs: { rung: string; probed: Launch[]; ncu: Launch[] }[] }

describe('what a rung would launch, seen without a GPU', () => {
  it.each(captured.rungs)('is what ncu saw of $rung on an H200', ({ probed, ncu }) => {
    const told = (launches: Launch[]) =>
      launches.map(({ grid, block, resources }) => {
        const { registersPerThread, staticSharedBytes, dynamicSharedBytes, barriers } = resources
        return { grid, block, registersPerThread, staticSharedBytes, dynamicSharedBytes, barriers }
      })
    expect(told(probed)).toEqual(told(ncu))
  })
})

describe("the probe's line", () => {
  const kernel = {
    name: 'k(int)',
    mangled: '_Z1ki',
    grid: [1, 2, 3],
    block: [32, 1, 1],
    dynamicSharedBytes: 0,
    clusterBlocks: 0,
  }
  const line = JSON.stringify({ event: 'launches', kernels: [kernel], reason: null, fault: null })

  it('is found among what the rung itself prints', () => {
    expect(parseProbedLaunches(`{not json\nhello\n${line}\n`)).toEqual({
      event: 'launches',
      kernels: [kernel],
      reason: null,
      fault: null,
    })
  })

  it('is missing where the probe ended before it, and where it is none', () => {
    for (const text of ['', 'hello', '{"event":"launches"}', line.replace('[1,2,3]', '[1,2]')])
      expect(parseProbedLaunches(text)).toBeNull()
  })
})
