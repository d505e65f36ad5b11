/** `lab check … --target recorded` on a machine without any tool; the first lab by the one-file program alone. */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LabOutcome } from '../../src-main/domain/labs/outcome'
import { tempDir } from '../services/support'
import { bundle, run, runBundle } from './support'
import { said } from '../said'

const labs = join(import.meta.dirname, '../../cuda-kernels/labs')

describe('lab check --target recorded', () => {
  let dir: string
  let program: string
  let env: Record<string, string>
  beforeEach(async () => {
    dir = await tempDir()
    program = join(dir, 'kernel-ladder.mjs')
    await copyFile(bundle, program)
    env = {
      PATH: '/usr/bin:/bin',
      KERNEL_LADDER_CACHE: join(dir, 'cache'),
      KERNEL_LADDER_DATA: dir,
    }
  })

  async function check(
    id: string,
    text: string,
    alone: boolean,
  ): Promise<{ code: number | null; outcome: LabOutcome }> {
    const file = join(dir, `${id}.cu`)
    await writeFile(file, text)
    const args = ['lab', 'check', id, '--file', file, '--target', 'recorded', '--json']
    const ended = await (alone ? runBundle(args, env, program) : run(args, env))
    const { code, stdout, stderr } = ended
    expect(stdout, stderr).not.toBe('')
    return { code, outcome: JSON.parse(stdout) as LabOutcome }
  }

  it.each([
    ['01-coalescing', ['load-sectors', 'store-sectors', 'fast'], true],
    ['02-shared-tile', ['right', 'race', 'tile', 'traffic', 'fast'], false],
    ['12-tensor-cores', ['tensor', 'fast'], false],
  ])(
    '%s: 0 for the solution, 1 for the starter, 3 for what was changed',
    async (id, starterFails, alone) => {
      const [starter, solution] = await Promise.all(
        ['starter', 'solution'].map((which) => readFile(join(labs, id, `${which}.cu`), 'utf8')),
      )
      const passed = await check(id, solution!, alone)
      expect(passed.code).toBe(0)
      expect(passed.outcome).toMatchObject({
        status: 'passed',
        target: { kind: 'recorded', name: `${id}-solution-h200` },
        device: { name: 'NVIDIA H200' },
      })
      const figures = passed.outcome.checks.flatMap((one) => one.figures)
      expect(new Set(figures.map(({ value }) => value.evidence))).toContain('measured')

      const failed = await check(id, starter!, alone)
      expect(failed.code).toBe(1)
      expect(
        failed.outcome.checks.filter(({ status }) => status !== 'passed').map((one) => one.id),
      ).toEqual(starterFails)

      const changed = await check(id, `${solution!}\n// mine\n`, alone)
      expect(changed.code).toBe(3)
      expect(changed.outcome.status).toBe('unavailable')
      expect(said(changed.outcome.reason)).toMatch(
        /^Only the lab’s own starter and solution were recorded, and this file is neither/,
      )
    },
  )

  it('says in words on which GPU it was, beside what was predicted', async () => {
    const file = join(dir, 'lab.cu')
    await copyFile(join(labs, '04-coarsening', 'solution.cu'), file)
    await writeFile(
      join(dir, 'answers.yaml'),
      'predictions:\n  predict-loads: { direction: down, factor: 0.3 }\n  predict-occupancy: { direction: up }\n',
    )
    const args = ['lab', 'check', '04-coarsening', '--file', file, '--target', 'recorded']
    const { code, stdout } = await run(args, env)
    expect(code).toBe(0)
    expect(stdout).toContain('recorded on NVIDIA H200 as 04-coarsening-solution-h200')
    expect(stdout).toMatch(/✓ predict-loads: You predicted down, 0\.3×\. .*That is correct/)
    expect(stdout).toMatch(
      /✗ predict-occupancy: You predicted up\. Achieved occupancy went from 91\.1 % to 32\.8 %/,
    )
    await writeFile(file, `${await readFile(file, 'utf8')}\n// mine\n`)
    const changed = await run(args, env)
    expect(changed.code).toBe(3)
    expect(changed.stdout).toMatch(/· not measured\n/)
  })
})
