/**
 * Tests `--target predicted` on the command line, with the real emulator. The test supplies the
 * results of the timing model.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EmulationJob } from '../../../src-main/domain/emulation/job'
import type { Session } from '../../../src-main/domain/session/session'
import type { PredictionAnswer } from '../../../src-main/domain/prediction/prediction'
import { runIn, type Finished } from './support'
import { keeping, keptNvcc } from '../../kept-nvcc'
import { emulatorWith, launchOf, parametersText, predictionOf } from '../../predicting-emulator'

const kept = await keptNvcc('predicted', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

type Model = (job: EmulationJob) => PredictionAnswer
let answer: Model
const folder = await mkdtemp(join(tmpdir(), 'kl-predicted-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const gpusDir = join(folder, 'gpus')
const parameters = (over: object = {}, validated = true): Promise<void> =>
  writeFile(join(gpusDir, 'h200.json'), parametersText(over, validated))

beforeAll(async () => {
  await mkdir(gpusDir)
  await parameters()
})

const cli = async (...words: string[]): Promise<Finished> => {
  const machine = await kept.machine()
  const startEmulator = emulatorWith((job) => answer(job))
  return runIn(
    {
      env: { KERNEL_LADDER_DATA: join(folder, 'data'), KERNEL_LADDER_CACHE: join(folder, 'cache') },
      gpusDir,
      machine: {
        ...machine,
        toolbox: (...given: Parameters<typeof machine.toolbox>) => ({
          ...machine.toolbox(...given),
          startEmulator,
        }),
      },
    },
    ...words,
  )
}
const rungs = ['--ladder', 'gemm-fp32', '--rungs', '04_thread_tile_1d,05_thread_tile_2d']
const run = (...more: string[]) => cli('run', ...rungs, '--target', 'predicted', ...more)
/** Returns whether each block computes 128 by 128 elements, as in the second rung. */
const isLast = ({ launches, buffers }: EmulationJob): boolean => {
  const [x, y] = launches[0]!.grid
  return x * y === buffers[0]!.bytes / 4 / 128 ** 2
}
const launch = ({ launches }: EmulationJob, ms: number) => launchOf(launches[0]!, ms)
/** Predicts that the second rung takes half as long as the first. */
const halved: Model = (job) => predictionOf([launch(job, isLast(job) ? 0.5 : 1)])

it('a rung has a predicted time with its range, and no measured time', async () => {
  answer = halved
  const { code, stdout, stderr } = await run('--size', '1024', '--json')
  expect(code, stderr).toBe(0)
  expect(stderr).toMatch(/^ {2}predict 05_thread_tile_2d$/m)
  const session = JSON.parse(stdout) as Session
  expect(session).toMatchObject({
    target: { kind: 'predicted', name: 'h200' },
    problem: { sizes: { m: 1024, n: 1024, k: 1024 } },
    prediction: { model: 'scoreboard 4', parameters: { name: 'h200', validated: true } },
  })
  const [, last] = session.rungs
  expect(last).toMatchObject({
    status: 'ok',
    timing: null,
    predicted: { evidence: 'predicted', ms: 0.5, limiter: 'latency', class: 'latency' },
  })
  // `alsoVerified` lists the smaller size at which results are verified in seconds.
  expect(last!.verify).toBeNull()
  expect(last!.alsoVerified).toMatchObject([
    { problem: { sizes: { m: 512, n: 512, k: 512 } }, verify: { passed: true } },
  ])
  expect(last!.metrics['fmaUtilization']).toEqual({ value: 50, unit: '%', evidence: 'predicted' })
  // All blocks do the same work, so the total is one block's count times the number of blocks.
  expect(last!.metrics['ffmaInstructions']).toMatchObject({
    value: 1024 ** 3,
    evidence: 'predicted',
  })
})

it('a rung at a size that is emulated completely has exact counters', async () => {
  answer = halved
  const { stdout } = await run('--size', '256', '--json')
  const [, last] = (JSON.parse(stdout) as Session).rungs
  expect(last).toMatchObject({ verify: { passed: true }, predicted: { ms: 0.5 } })
  expect(last!.metrics['ffmaInstructions']).toMatchObject({ value: 256 ** 3, evidence: 'emulated' })
})

it('times are printed with their range, ratios only between predicted times, and missing predictions with a reason', async () => {
  answer = halved
  const out = join(folder, 'halved')
  const { stdout } = await run('--size', '256', '--out', out)
  expect(stdout).toMatch(
    /^05_thread_tile_2d +ok +≈ 500 µs \(450–550\) +≈ 2\.0× \(1\.7–2\.4\) +latency/m,
  )
  expect(stdout).toContain('predicted for H200')
  const diff = await cli('diff', out, '04_thread_tile_1d', '05_thread_tile_2d')
  expect(diff.stdout).toMatch(/^Time +≈ 1\.0 ms \(0\.91–1\.1\) .*▲ better/m)

  answer = (job) =>
    isLast(job) ? { refused: 'spins', detail: '' } : predictionOf([launch(job, 1)])
  const refused = await run('--size', '256')
  expect(refused.code).toBe(0)
  expect(refused.stdout).toMatch(
    /^05_thread_tile_2d: Not predicted: the kernel’s blocks wait for each other/m,
  )
})

it('a comparison of a predicted and a measured session shows prediction errors, but no ratio', async () => {
  answer = (job) => predictionOf([launch(job, 1)])
  const out = join(folder, 'mine')
  await run('--size', '1024', '--out', out)
  const { stdout } = await cli('compare', 'recorded:gemm-fp32-h200-1024', out, '--json')
  const { pairs, answer: said } = JSON.parse(stdout) as {
    pairs: {
      b: string
      ratio: number | null
      timeA: number
      verdict: string
      predictionError: { error: number; inRange: boolean }
    }[]
    answer: unknown[]
  }
  expect(pairs).toHaveLength(2)
  for (const { ratio, timeA, verdict, predictionError } of pairs) {
    expect([ratio, verdict]).toEqual([null, 'unresolved'])
    expect(predictionError.error).toBeCloseTo(1 / timeA - 1)
  }
  expect(JSON.stringify(said)).toContain('comparison.errors')
  const text = await cli('compare', 'recorded:gemm-fp32-h200-1024', out)
  expect(text.stdout).toMatch(/error of the prediction/)
})

it.each([
  ['predicted:gtx-9', /has no GPU "gtx-9"|"gtx-9"/, 2],
  [
    'predicted:a100',
    /The timing model has no parameters for A100\..*The model has parameters for: h200/s,
    2,
  ],
  ['predicted:b200', /does not support compute capability 10\.0/, 2],
] as const)('%s is rejected with an error message', async (target, why, expected) => {
  const { code, stderr } = await cli('run', ...rungs, '--target', target)
  expect(code).toBe(expected)
  expect(stderr).toMatch(why)
})

it.each([
  ['a missing value', { latencyL2: undefined }, /h200\.json has no value for latencyL2/],
  [
    'an absurd one',
    { clockMHz: 9e9 },
    /clockMHz is 9000000000 MHz, which is not between 200 and 5000/,
  ],
])('a parameter file with %s is rejected', async (_, over, why) => {
  await parameters(over)
  const { code, stderr } = await run('--size', '256')
  await parameters()
  expect(code).toBe(2)
  expect(stderr).toMatch(why)
})

it('a sweep and race checks reject a predicted target and suggest the required target', async () => {
  const tune = await cli(
    'tune',
    '--ladder',
    'gemm-fp32',
    '--rung',
    '05_thread_tile_2d',
    '--target',
    'predicted',
  )
  expect([tune.code, tune.stderr]).toEqual([
    2,
    expect.stringMatching(/no GPU to tune on.*Use local/s),
  ])
  const sanitize = await cli('sanitize', ...rungs, '--target', 'predicted')
  expect([sanitize.code, sanitize.stderr]).toEqual([
    2,
    expect.stringMatching(/does not support memory and race checks/),
  ])
})
