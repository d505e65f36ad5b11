/**
 * Tests the recommended change, the limit, and the waterfall chart in the output of `next`, `show`,
 * and `diff`.
 */
import { describe, expect, it } from 'vitest'
import { ncuReportFile } from '../../captures'
import { runHere } from './support'

const deep = 'recorded:gemm-fp32-h200-4096-deep'

describe('next', () => {
  it('prints each step with its time, evidence, lines, costs, and an example that diff can show', async () => {
    const { code, stdout } = await runHere('next', deep, '05_thread_tile_2d')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^05_thread_tile_2d: No unit is near its limit; the busiest is/)
    expect(stdout).toMatch(/^1\. Compute a tile of results per thread/m)
    expect(stdout).toMatch(/4\.43 ms → [\d.]+ ms to [\d.]+ ms, most likely [\d.]+ ms/)
    expect(stdout).toMatch(
      /[\d.]+ % of the samples wait at \S+ \(line \d+\) for the result of LDG\S* \(line \d+\)\./,
    )
    expect(stdout).toMatch(/gemm\/05_thread_tile_2d\.cu:87, \d+ %: for \(int i/)
    const [, recording, a, b] = /Example: kernel-ladder diff (\S+) (\S+) (\S+)/.exec(stdout)!
    expect((await runHere('diff', recording!, a!, b!)).code).toBe(0)
  })

  it('reads a report without saving a session', async () => {
    const before = (await runHere('sessions')).stdout
    const { code, stdout } = await runHere('next', ncuReportFile('launches-two-rungs'))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d\d_\w+: /)
    expect((await runHere('sessions')).stdout).toBe(before)
  })

  it('exits with 2 for a missing rung, session or file', async () => {
    expect((await runHere('next', deep, '05_thread_tile')).code).toBe(2)
    expect((await runHere('next', './nothing-here')).code).toBe(2)
    expect((await runHere('next', './nothing.ncu-rep')).code).toBe(2)
  })

  it('reports that card metrics are insufficient', async () => {
    const { code, stdout } = await runHere('next', 'recorded:gemm-fp32-h200-1024')
    expect(code).toBe(0)
    expect(stdout).toMatch(/The card profile has too few counters/)
  })
})

it("show prints a rung's first recommended step at the end", async () => {
  const { stdout } = await runHere('show', deep, '--rung', '05_thread_tile_2d')
  expect(stdout).toMatch(/^Next step: No unit is near its limit; .* Compute a tile of results/m)
})

it('diff draws the waterfall from the old time to the new time', async () => {
  const { stdout } = await runHere('diff', deep, '05_thread_tile_2d', '06_float4')
  const path = stdout.slice(stdout.indexOf('From the old time to the new:'))
  expect(path).toMatch(/4\.43 ms {2}█+ +05_thread_tile_2d/)
  expect(path).toMatch(/−[\d.]+ (ms|µs) +█+ +work of the limiting unit/)
  expect(path).toMatch(/3\.41 ms {2}█+ +06_float4/)
})

it("show ends with the rung to change first, or with a program's total time after the change", async () => {
  const ladder = await runHere('show', 'recorded:transpose-h200')
  expect(ladder.stdout).toMatch(/^Next step for \d\d_\w+: .+ → .+\. Run `next` for all steps\.$/m)
  const program = await runHere('show', 'recorded:feed-forward-h200-fused')
  expect(program.stdout).toMatch(
    /^Next step for 02_bias_gelu_kernel: .*\(all kernels: 162 µs → 157 µs\)/m,
  )
  const one = await runHere('next', 'recorded:feed-forward-h200-fused')
  expect(one.stdout).toMatch(/^02_bias_gelu_kernel: /)
})
