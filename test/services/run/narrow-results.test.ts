/**
 * Tests products whose result type is narrower than the type of the sums. The emulator executes
 * these products at ragged sizes.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import { runIn } from '../../hosts/cli/support'
import { keptNvcc } from '../../kept-nvcc'
import { useOneCore } from '../../one-core'
import { tempDir } from '../support'

useOneCore()

describe.skipIf((await findTool('nvcc')) === null)('with a real nvcc', async () => {
  const compiler = await keptNvcc('narrow-results', { artifacts: true })
  const statuses = async (ladder: string, sizes: readonly string[]) => {
    const out = join(await tempDir(), 'session')
    const words = ['--target', 'emulated', ...sizes.flatMap((size) => ['--at', size])]
    const { code, stderr } = await runIn(
      { machine: await compiler.machine() },
      ...['run', '--ladder', ladder, ...words, '--out', out],
    )
    expect(code, stderr).toBe(0)
    const { rungs } = await readSession(out)
    return rungs.map(({ id, status }) => `${id} ${status}`)
  }

  // Each run also verifies results at the `testAt` sizes: 1, and sizes that are not a multiple of
  // the tile size.
  it.each([
    ['m=129', 'n=66', 'k=80'],
    // With a scale of 0.01, many sums saturate.
    ['m=33', 'n=35', 'k=67', 'scale=0.01'],
  ])('INT8 results are exact at %s %s %s', async (...sizes) => {
    expect(await statuses('gemm-int8', sizes)).toEqual(
      ['90_int8_naive', '91_int8_unfused', '92_int8_fused', '93_int8_mma'].map((id) => `${id} ok`),
    )
  })

  // A scale of 1e6 is above the largest FP16 number.
  it.each([
    ['m=65', 'n=66', 'k=33'],
    ['m=65', 'n=66', 'k=33', 'scale=1e6'],
  ])('FP16 results are correct at %s %s %s', async (...sizes) => {
    expect(await statuses('gemm-half-result', sizes)).toEqual(
      ['95_half_unfused', '96_half_fused'].map((id) => `${id} ok`),
    )
  })

  it('sizes whose sums could overflow INT32 are rejected', async () => {
    const { code, stderr } = await runIn(
      { machine: await compiler.machine() },
      ...['run', '--ladder', 'gemm-int8', '--target', 'emulated', '--at', 'k=131072'],
    )
    expect(code).toBe(2)
    expect(stderr).toContain('k = 131072 is not a valid size.')
  })
})
