/** `diff` and `show` tell why before they list counters. */
import { describe, expect, it } from 'vitest'
import { runHere } from './support'

const recorded = 'recorded:gemm-fp32-h200-4096'

describe('diff', () => {
  it('begins with the causes, then what got worse and did not matter, then the counters', async () => {
    const { stdout } = await runHere('diff', recorded, '11_warp_tile', '12_register_prefetch')
    const parts = [
      /^ 105 % {2}The FMA pipe is busy for 78\.9 % of the time instead of 65\.1 %/m,
      /^ {3}3 % {2}Unexplained\.$/m,
      /^Worse, and it did not matter:\n.*DRAM traffic/ms,
      /--profile deep/,
      /^Time +3\.26 ms +2\.71 ms/m,
    ].map((part) => stdout.search(part))
    expect(parts).not.toContain(-1)
    expect(parts).toEqual([...parts].sort((a, b) => a - b))
  })

  it('says of a step within the noise that it is the same, and what moved all the same', async () => {
    const { stdout } = await runHere('diff', recorded, '14_block_128x256', '15_rasterized')
    expect(stdout).toMatch(
      /Why: The times are the same within the spread of both, or half a percent\.\nWhat moved:\n/,
    )
  })
})

describe('show', () => {
  it('has one line a step, and the causes of each in its document', async () => {
    const { stdout } = await runHere('show', recorded)
    expect(stdout).toMatch(
      /\n {2}12_register_prefetch, 1\.20× as fast as 11_warp_tile: The FMA pipe/,
    )
    const { steps } = JSON.parse((await runHere('show', recorded, '--json')).stdout) as {
      steps: { a: string; b: string; causes: { id: string; share: number }[] }[]
    }
    const step = steps.find(({ b }) => b === '06_float4')!
    expect([step.a, step.causes[0]!.id]).toEqual(['05_thread_tile_2d', 'work'])
  })

  it('says once which level counts what limits', async () => {
    const { stdout } = await runHere('show', 'recorded:gemm-tensor-h200-8192')
    expect(stdout.match(/--profile standard/g)).toHaveLength(1)
  })

  it('of a rung compares it with the one before, and of the first with none', async () => {
    const { stdout } = await runHere('show', recorded, '--rung', '06_float4')
    expect(stdout).toMatch(/Compared with 05_thread_tile_2d:\nWhy, with the share of the step:\n/)
    const first = await runHere('show', recorded, '--rung', '01_naive', '--json')
    expect(JSON.parse(first.stdout)).toMatchObject({ before: null, causes: [], noCauses: null })
  })
})
