import { describe, expect, it } from 'vitest'
import { captures, compareKernels, counted, emulate, readCapture } from '../../emulated-captures'

/** By how much of a kernel's shared wavefronts a rung may differ, as docs/EMULATION.md explains it. */
const mostOff: Record<string, number> = {
  // Copies of 4 bytes from rows that begin within a sector.
  '13_cp_async': 0.0022,
  '14_block_128x256': 0.0022,
  '15_rasterized': 0.0022,
  '16_split_k': 0.0022,
  '17_fastest': 0.028,
}

const share = ({ emulated, measured }: { emulated: number; measured: number }): number =>
  Math.abs(emulated / measured - 1)

describe.each(captures())('%s, counted on an H200 instruction by instruction', (name) => {
  const capture = readCapture(name)

  it.each(capture.rungs.map((rung) => [rung.id, rung] as const))('%s', (id, rung) => {
    const { launches } = emulate(rung, capture.seed)
    expect(launches.flatMap(({ result }) => result.findings)).toEqual([])
    const unequal = compareKernels(rung, launches).flatMap(({ kernel, totals }) =>
      counted.flatMap((what) =>
        totals[what].unequal === 0 ||
        (what === 'wavefronts' && share(totals[what]) <= (mostOff[id] ?? 0))
          ? []
          : [`${kernel}: ${what} of ${totals[what].unequal} instructions, ${share(totals[what])}`],
      ),
    )
    expect(unequal).toEqual([])
  })
})
