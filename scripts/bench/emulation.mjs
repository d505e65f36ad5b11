// @ts-check
/**
 * Measures how long emulation and prediction take on a machine without a GPU.
 *
 * The emulation benchmark runs the ladder gemm-fp32 at size 512, and a lab check. The prediction
 * benchmark runs one rung at size 512, a lab check, and the ladder at size 4096. nvcc's output is
 * already in the cache. The benchmark reports wall time and the CPU time of all threads and tools.
 * Other load on the machine affects CPU time less than wall time. For the ladder, the benchmark
 * also reports warp instructions per second of wall time and of CPU time.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/project.mjs'
import { describe, inScratch, median } from './support.mjs'

/** Number of samples per figure. */
const samples = 3
const program = join(root, 'dist/cli/kernel-ladder.mjs')
const solution = join(root, 'cuda-kernels/labs/07-bank-conflicts/solution.cu')

/**
 * Returns the number of warp instructions executed by all kernels in the session.
 * @param {string} session
 */
function executedIn(session) {
  const deep = join(session, 'deep')
  return readdirSync(deep)
    .flatMap((name) => JSON.parse(readFileSync(join(deep, name), 'utf8')).kernels)
    .flatMap((kernel) => kernel.instructions)
    .reduce((sum, { executed }) => sum + (executed ?? 0), 0)
}

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchEmulation(judge) {
  await inScratch(async (folder) => {
    const env = {
      ...process.env,
      KERNEL_LADDER_CACHE: join(folder, 'cache'),
      KERNEL_LADDER_DATA: join(folder, 'data'),
    }
    /**
     * Returns the elapsed milliseconds and the CPU time in seconds. The CPU time includes child
     * processes.
     * @param {string[]} args
     */
    const run = (args) => {
      const startedAt = performance.now()
      const timed = 'TIMEFORMAT="processor %U %S"; time "$@"'
      const { status, stderr } = spawnSync(
        'bash',
        ['-c', timed, 'bash', process.execPath, program, ...args],
        {
          env,
          encoding: 'utf8',
        },
      )
      if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`)
      const [, user, system] = /processor (\S+) (\S+)/.exec(stderr) ?? []
      return {
        milliseconds: performance.now() - startedAt,
        processor: Number(user) + Number(system),
      }
    }
    const ladder = ['run', '--ladder', 'gemm-fp32', '--target', 'emulated', '--size', '512']
    const lab = ['lab', 'check', '07-bank-conflicts', '--file', solution, '--target', 'emulated']
    const predictedLab = [...lab.slice(0, -1), 'predicted']
    const predicted = ['run', '--ladder', 'gemm-fp32', '--target', 'predicted:h200']
    for (const [budget, args, what] of /** @type {const} */ ([
      ['emulatedLadder', ladder, 'gemm-fp32 at 512, emulated'],
      ['emulatedLab', lab, 'Lab 07 checked, emulated'],
      [
        'predictedRung',
        [...predicted, '--size', '512', '--rungs', '12_rasterized'],
        'A rung of gemm-fp32 at 512, predicted',
      ],
      ['predictedLab', predictedLab, 'Lab 07 checked, predicted'],
      ['predictedLadder', [...predicted, '--size', '4096'], 'gemm-fp32 at 4096, predicted'],
    ])) {
      const first = run([...args, '--out', join(folder, `${budget}-first`)])
      const runs = Array.from({ length: samples }, (_, index) =>
        run([...args, '--out', join(folder, `${budget}-${index}`)]),
      )
      const times = runs.map(({ milliseconds }) => milliseconds)
      const seconds = median(times) / 1000
      const processor = median(runs.map((each) => each.processor))
      console.log(`${what}: ${describe(times)}, ${judge(budget, seconds)}`)
      console.log(
        `  ${processor.toFixed(1)} s of processor time; with compiling ${(first.milliseconds / 1000).toFixed(1)} s, ${first.processor.toFixed(1)} s of processor time`,
      )
      if (budget === 'emulatedLadder') {
        const millions = executedIn(join(folder, `${budget}-0`)) / 1e6
        console.log(
          `  ${millions.toFixed(0)} million warp instructions, ${(millions / seconds).toFixed(1)} million a second, ${(millions / processor).toFixed(1)} million a second of processor time`,
        )
      }
    }
  })
}
