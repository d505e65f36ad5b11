/** Tests how the command line prints the comparison of two rungs. */
import { expect, it } from 'vitest'
import { runIn } from './support'

it('diff explains that the verdict "same" includes small differences', async () => {
  const words = ['recorded:gemm-bf16-h200-8192', '76_multicast_nt', '77_tma_store_nt']
  const { code, stdout, stderr } = await runIn({}, 'diff', ...words)
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/^Load\/store pipe utilization .* 0\.\d+× +\S same$/m)
  expect(stdout).toMatch(/^same: equal, or a difference within the noise or too small to matter$/m)
})
