/**
 * Uses recordings to test when each move applies. A move must apply to a rung that was later
 * improved by this move. A move must not apply to a rung without the cause that the move removes.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { moveOf, moves } from '../../../src-main/domain/next/registry'
import { boundOf } from '../../../src-main/domain/next/bound'
import { inEnglish } from '../../../src-main/domain/text/english'
import { factsOfRung, projectRoot } from './support'

const atomic = 'atomicAdd(&bins[value], 1u);'

interface Case {
  move: string
  applies: [recording: string, rung: string, source?: string]
  not: [recording: string, rung: string]
  /** Matches the move's first piece of evidence. */
  evidence: RegExp
}

const cases: Case[] = [
  {
    move: 'coalesce',
    applies: ['gemm-fp32-h200-4096', '01_naive'],
    not: ['gemm-fp32-h200-4096', '02_coalesced'],
    evidence: /Sectors per global load: 16\.5 sectors/,
  },
  {
    move: 'vectorize',
    applies: ['reduction-h200', '07_grid_stride'],
    not: ['reduction-h200', '08_vector_loads'],
    evidence: /Sectors per global load: 4\.00 sectors/,
  },
  {
    move: 'shared-tile',
    applies: ['gemm-fp32-h200-4096', '02_coalesced'],
    not: ['gemm-fp32-h200-4096', '03_shared_tile'],
    evidence: /^L1 transfers [\d.,]+× the bytes/,
  },
  {
    move: 'register-tile',
    applies: ['gemm-fp32-h200-4096', '03_shared_tile'],
    not: ['gemm-bf16-h200-4096', '73_wgmma_nt'],
    evidence: /^Each load from shared memory feeds [\d.]+ FMAs/,
  },
  {
    move: 'pad',
    applies: ['transpose-h200', '03_square_tile'],
    not: ['gemm-fp32-h200-4096', '12_rasterized'],
    evidence: /^9\d\.\d % of the passes through shared memory are caused by bank conflicts/,
  },
  {
    move: 'prefetch',
    applies: ['gemm-fp32-h200-4096', '08_warp_tile'],
    not: ['gemm-fp32-h200-4096', '10_cp_async'],
    evidence: /waiting for global or local memory/,
  },
  {
    move: 'async-copy',
    applies: ['gemm-fp32-h200-4096', '09_register_prefetch'],
    not: ['gemm-bf16-h200-4096', '78_staggered_nt'],
    evidence: /^Tiles pass through registers/,
  },
  {
    move: 'barriers',
    applies: ['reduction-h200', '04_first_add_on_load'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /at a barrier/,
  },
  {
    move: 'more-work',
    applies: ['reduction-h200', '03_sequential'],
    not: ['gemm-fp32-h200-4096', '03_shared_tile'],
    evidence: /waiting for global or local memory/,
  },
  {
    move: 'shuffle',
    applies: ['scan-h200', '03_padded_blelloch'],
    not: ['transpose-h200', '02_column_reads'],
    evidence: /at a barrier|for shared memory/,
  },
  {
    move: 'aggregate-atomics',
    applies: ['joint-histogram-h200', '01_global_atomics', atomic],
    not: ['joint-histogram-h200', '01_global_atomics'],
    evidence: /waiting for global or local memory/,
  },
  {
    move: 'divergence',
    applies: ['reduction-h200', '01_interleaved_divergent'],
    not: ['transpose-h200', '04_padded_tile'],
    evidence: /of the lanes are active/,
  },
  {
    move: 'addressing',
    applies: ['gemm-bf16-h200-4096', '71_shared_tile_nt'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /Integer/i,
  },
  {
    move: 'unroll',
    applies: ['reduction-h200', '05_unrolled_last_warp'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /Control/i,
  },
  {
    move: 'occupancy-up',
    applies: ['attention-h200', '02_tiled'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /Theoretical occupancy: 12\.5 %/,
  },
  {
    move: 'occupancy-down',
    applies: ['gemm-fp32-h200-4096', '10_cp_async'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /Theoretical occupancy: 25\.0 %/,
  },
  {
    move: 'block-shape',
    applies: ['gemm-fp32-h200-4096', '08_warp_tile'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /^Blocks have 256 threads/,
  },
  {
    move: 'larger-blocks',
    applies: ['seed-rtx3090-h200-1024', '39_stride_16'],
    not: ['gemm-fp32-h200-4096', '08_warp_tile'],
    evidence: /^Blocks have 16 threads/,
  },
  {
    move: 'blocks',
    applies: ['softmax-h200', '01_thread_per_row'],
    not: ['softmax-h200', '02_block_per_row'],
    evidence: /Waves per SM: 0\.0/,
  },
  {
    move: 'split-k',
    applies: ['seed-cutlass-h200-256x256x16384', '12_rasterized'],
    not: ['seed-cutlass-h200', '12_rasterized'],
    evidence: /^SMs have a block for 1\.5/,
  },
  {
    move: 'persistent',
    applies: ['gemm-bf16-h200-4096', '74_warp_specialized_nt'],
    not: ['gemm-bf16-h200-4096', '75_persistent_nt'],
    evidence: /Waves per SM: 3\.88/,
  },
  {
    move: 'l2-order',
    applies: ['gemm-bf16-h200-4096', '78_staggered_nt'],
    not: ['reduction-h200', '07_grid_stride'],
    evidence: /L2 hit rate/,
  },
  {
    move: 'eviction',
    applies: ['gemm-bf16-h200-4096', '78_staggered_nt'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /L2 hit rate/,
  },
  {
    move: 'tensor-cores',
    applies: ['gemm-bf16-h200-4096', '71_shared_tile_nt'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /^The tensor pipe is busy for 1\.8/,
  },
  {
    move: 'precision',
    applies: ['reduction-h200', '08_vector_loads'],
    not: ['reduction-h200', '03_sequential'],
    evidence: /^DRAM is busy for 84/,
  },
  {
    move: 'one-pass',
    applies: ['softmax-h200', '02_block_per_row'],
    not: ['softmax-h200', '05_in_registers'],
    evidence: /^Memory traffic is [\d.]+× the minimum/,
  },
  {
    move: 'fuse',
    applies: ['seed-cutlass-h200', '22_unfused_epilogue'],
    not: ['seed-cutlass-h200', '23_fused_epilogue'],
    evidence: /^The rung launches 2 kernels/,
  },
  {
    move: 'specialize',
    applies: ['gemm-tensor-h200-4096', '56_wgmma_tma'],
    not: ['gemm-tensor-h200-4096', '57_warp_specialized'],
    evidence: /at a barrier/,
  },
  {
    move: 'overlap',
    applies: ['gemm-tensor-h200-4096', '58_persistent'],
    not: ['gemm-tensor-h200-4096', '54_mma_sync'],
    evidence: /Tensor pipe/,
  },
  {
    move: 'cluster',
    applies: ['gemm-bf16-h200-4096', '75_persistent_nt'],
    not: ['gemm-bf16-h200-4096', '76_multicast_nt'],
    evidence: /L2/,
  },
  {
    move: 'library',
    applies: ['gemm-fp32-h200-4096', '05_thread_tile_2d'],
    not: ['gemm-fp32-h200-4096', '11_block_128x256'],
    evidence: /^The reference is 1\.65× as fast/,
  },
]

describe.each(cases)('the move $move', ({ move: id, applies, not, evidence }) => {
  const move = moveOf(id)!

  it('applies to a rung that loses time to its cause, and lists the counters that show the cause', async () => {
    const facts = await factsOfRung(...applies)
    const found = move.find(facts)
    expect(found).not.toBeNull()
    expect(inEnglish(found!.evidence[0]!)).toMatch(evidence)
    expect(boundOf(facts, found!.change)).toBeGreaterThan(1)
  })

  it('does not apply after the cause was removed', async () => {
    expect(move.find(await factsOfRung(...not))).toBeNull()
  })
})

describe('the registry', () => {
  it('has every move, and every move has a test case', () => {
    const files = readdirSync(join(projectRoot, 'src-main/domain/next/moves'))
    expect(moves.map(({ id }) => `${id}.ts`).toSorted()).toEqual(files.toSorted())
    expect(cases.map(({ move }) => move).toSorted()).toEqual(moves.map(({ id }) => id).toSorted())
  })

  it('has every move that a shipped ladder mentions', () => {
    const kernels = join(projectRoot, 'cuda-kernels')
    const ladders = readdirSync(kernels, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\/ladders\/[^/]+\.json$/.test(path),
    )
    const made = ladders.flatMap((path) =>
      (
        JSON.parse(readFileSync(join(kernels, path), 'utf8')) as { rungs: { moves?: string[] }[] }
      ).rungs.flatMap((rung) => rung.moves ?? []),
    )
    expect(made.length).toBeGreaterThan(100)
    expect(made.filter((id) => !moveOf(id))).toEqual([])
  })
})
