import { describe, expect, it } from 'vitest'
import {
  captures,
  compareKernels,
  counted,
  emulate,
  readCapture,
  type Counted,
} from '../../emulated-captures'

/** What differs from the GPU, as docs/EMULATION.md explains it: by rung, what is counted. */
const known: Record<string, readonly Counted[]> = {
  // Copies of 4 bytes from rows that begin within a sector.
  '13_cp_async': ['wavefronts'],
  '14_block_128x256': ['wavefronts'],
  '15_rasterized': ['wavefronts'],
  '16_split_k': ['wavefronts'],
  '17_fastest': ['wavefronts'],
}

describe.each(captures())('%s, counted on an H200 instruction by instruction', (name) => {
  const capture = readCapture(name)

  it.each(capture.rungs.map((rung) => [rung.id, rung] as const))('%s', (id, rung) => {
    const { launches } = emulate(rung, capture.seed)
    expect(launches.flatMap(({ result }) => result.findings)).toEqual([])
    const unequal = compareKernels(rung, launches).flatMap(({ kernel, totals }) =>
      counted.flatMap((what) =>
        totals[what].unequal === 0 || known[id]?.includes(what)
          ? []
          : [`${kernel}: ${what} of ${totals[what].unequal} instructions`],
      ),
    )
    expect(unequal).toEqual([])
  })
})
