/** The rungs with an epilogue run the main loop of 15_rasterized, which keeps its own for its source to be whole. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support'

const text = (file: string): Promise<string> => readFile(join(root, 'cuda-kernels', file), 'utf8')

function between(source: string, from: string, to: string): string {
  const start = source.indexOf(from)
  const end = source.indexOf(to, start)
  expect(
    [start, end].every((at) => at >= 0),
    `${from} … ${to}`,
  ).toBe(true)
  return source.slice(start, end)
}

it('rasterized_common.cuh is 15_rasterized line by line, from its constants to the end of its loop', async () => {
  const rung = await text('gemm/15_rasterized.cu')
  const shared = await text('include/rasterized_common.cuh')
  expect(between(shared, 'constexpr int BM', '// The tile of C that this block computes')).toBe(
    between(rung, 'constexpr int BM', 'template <bool kWhole>\n__global__'),
  )
  const loop = '  awaitCopies<STAGES - 2>();\n  __syncthreads();\n  readStep(0, 0);'
  const own = between(
    rung,
    loop,
    '\n#pragma unroll\n  for (int i = 0; i < TM; ++i) {\n    const int r',
  )
  expect(own).toContain('sum[i][j] +=')
  expect(between(shared, loop, '}\n\n// Whether every tile is whole')).toBe(own)
})
