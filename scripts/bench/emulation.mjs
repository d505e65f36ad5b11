// @ts-check
/**
 * What a machine without a GPU waits for: the ladder gemm-fp32 at 512 and a lab check on the emulated GPU, each with nvcc's
 * output in the cache and, in the first of them, how many warp instructions a second that is.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { nodePath } from '../lib/node.mjs'
import { root } from '../lib/project.mjs'
import { describe, inScratch, median } from './support.mjs'

const samples = 3
const program = join(root, 'dist/cli/kernel-ladder.mjs')
const solution = join(root, 'cuda-kernels/labs/07-bank-conflicts/solution.cu')

/** Warp instructions that the session's rungs executed, each kernel's instructions together. @param {string} session */
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
    /** @param {string[]} args */
    const run = (args) => {
      const startedAt = performance.now()
      const { status, stderr } = spawnSync(nodePath(), [program, ...args], {
        env,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`)
      return performance.now() - startedAt
    }
    const ladder = ['run', '--ladder', 'gemm-fp32', '--target', 'emulated', '--size', '512']
    const lab = ['lab', 'check', '07-bank-conflicts', '--file', solution, '--target', 'emulated']
    for (const [budget, args, what] of /** @type {const} */ ([
      ['emulatedLadder', ladder, 'gemm-fp32 at 512, emulated'],
      ['emulatedLab', lab, 'Lab 07 checked, emulated'],
    ])) {
      const first = run([...args, '--out', join(folder, `${budget}-first`)])
      const times = Array.from({ length: samples }, (_, index) =>
        run([...args, '--out', join(folder, `${budget}-${index}`)]),
      )
      const seconds = median(times) / 1000
      console.log(
        `${what}: ${describe(times)}, with compiling ${(first / 1000).toFixed(1)} s, ${judge(budget, seconds)}`,
      )
      if (budget === 'emulatedLadder') {
        const millions = executedIn(join(folder, `${budget}-0`)) / 1e6
        console.log(
          `  ${millions.toFixed(0)} million warp instructions, ${(millions / seconds).toFixed(1)} million a second`,
        )
      }
    }
  })
}
