import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findTool } from '../../src-main/adapters/tools/live-toolbox'
import type { LabOutcome } from '../../src-main/domain/labs/outcome'
import type { Session } from '../../src-main/domain/session/session'
import { run } from './support'

const folder = await mkdtemp(join(tmpdir(), 'kl-emulated-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const env = {
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
}
const hasCompiler = (await findTool('nvcc')) !== null

it.runIf(hasCompiler)(
  'a rung runs on the emulated GPU and a lab is passed by its solution alone',
  async () => {
    const args = ['--ladder', 'gemm-fp32', '--rungs', '05_thread_tile_2d', '--size', '128']
    const ran = await run(['run', ...args, '--target', 'emulated', '--json'], env)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toMatch(/About 1 million warp instructions/)
    const { target, rungs } = JSON.parse(ran.stdout) as Session
    expect(target).toEqual({ kind: 'emulated', name: 'h200' })
    expect(rungs[0]).toMatchObject({ status: 'ok', timing: null, verify: { passed: true } })
    expect(rungs[0]!.metrics['sharedLoadBankConflicts']).toMatchObject({
      value: 8192,
      evidence: 'emulated',
    })

    const outcomes: unknown[] = []
    // One after the other: what is printed is caught of the whole process.
    for (const which of ['solution', 'starter']) {
      const file = new URL(`../../cuda-kernels/labs/03-waves/${which}.cu`, import.meta.url)
      const check = ['lab', 'check', '03-waves', '--file', file.pathname]
      const { code, stdout } = await run([...check, '--target', 'emulated', '--json'], env)
      const { checks } = JSON.parse(stdout) as LabOutcome
      outcomes.push([code, Object.fromEntries(checks.map(({ id, status }) => [id, status]))])
    }
    const time = { resident: 'unavailable', fast: 'unavailable' }
    expect(outcomes).toEqual([
      [0, { right: 'passed', race: 'passed', waves: 'passed', ...time }],
      [1, { right: 'passed', race: 'passed', waves: 'failed', ...time }],
    ])
  },
)
