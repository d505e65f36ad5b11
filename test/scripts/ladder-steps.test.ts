/** Tests the count of unchanged lines in a ladder step. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changeBetween, stepsOf } from '../../scripts/lib/ladder-steps.mjs'
import { LadderFile } from '../../src-main/domain/ladder/ladder'

const kernels = join(import.meta.dirname, '../../cuda-kernels')
const ladder = (path: string): LadderFile =>
  LadderFile.parse(JSON.parse(readFileSync(join(kernels, path), 'utf8')))

it('a step has counts of unchanged, added, and removed lines', () => {
  expect(changeBetween(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual({
    of: 3,
    kept: 2,
    changed: 3,
  })
})

it('a ladder has a step from each rung to the rung that builds on it, except for the reference and variants', () => {
  const steps = stepsOf(ladder('gemm/ladders/gemm-fp32.json'))
  expect(steps[0]).toMatchObject({ from: '01_naive', to: '02_coalesced' })
  expect(steps.map(({ to }) => to)).not.toContain('08_half_block')
  expect(steps.map(({ from }) => from)).not.toContain('00_cublas')
})

it('a step counts the lines of a header that only one of its rungs includes', () => {
  const steps = stepsOf(ladder('gemm/ladders/gemm-fp32.json'))
  const [same, other] = ['14_shape_dispatch', '10_cp_async'].map((id) =>
    steps.find(({ to }) => to === id)!,
  )
  expect(same!.withHeaders).toEqual(same!.rung)
  expect(other!.withHeaders.changed).toBeGreaterThan(other!.rung.changed)
})
