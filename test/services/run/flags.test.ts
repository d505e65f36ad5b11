/** A rung whose header turns on flags of the task: who is told, and what the real kernels launch. */
import { describe, expect, it } from 'vitest'
import { inEnglish } from '../../../src-main/domain/text/wording'
import {
  readKernelLibrary,
  readSharedFiles,
} from '../../../src-main/adapters/kernels/kernel-library'
import { probeLaunches } from '../../../src-main/adapters/tools/launch-probe'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import { staticRungFlags } from '../../../src-main/adapters/tools/nvcc'
import { buildGpu } from '../../../src-main/domain/gpu/gpus'
import { buildLaunchProbe, buildRung } from '../../../src-main/services/run/build'
import { planRun } from '../../../src-main/services/run/plan'
import { caseOf } from '../../../src-main/domain/task/problem'
import { gemmProblem } from '../../gemm'
import { realCompiler } from '../../kept-nvcc'
import { fakeMachine, rung, shippedKernels, type Machine } from '../support'

const after = (words: readonly string[], option: string): (string | undefined)[] =>
  words.flatMap((word, index) => (word === option ? [words[index + 1]] : []))

async function machineWithEpilogue(without: readonly string[] = []): Promise<Machine> {
  const machine = await fakeMachine(without)
  await machine.editRung('02_coalesced', (text) =>
    text.replace('// @dtype', '// @epilogue relu, bias\n// @dtype'),
  )
  return machine
}

describe('the flags that a header turns on', () => {
  it('make a case of that rung alone, under ncu too, and go into the session', async () => {
    const machine = await machineWithEpilogue()
    const { session } = await machine.run({ rungs: ['01_naive', '02_coalesced'] })
    const calls = machine.calls('runner').filter(([, command]) => command === 'measure')
    expect(calls.length).toBeGreaterThan(0)
    for (const call of calls) {
      expect(after(call, '--case')).toEqual(['f32', 'f32+bias+relu'])
      expect(after(call, '--rung-case')).toEqual(['02_coalesced=f32+bias+relu'])
      expect(after(call, '--buffer').filter((word) => word?.startsWith('bias:'))).toEqual([
        'bias:f32:in:1024:uniform,-1,1',
      ])
      expect(after(call, '--reference-field')).toContain('36:i32:1')
    }
    const profiled = machine.calls('ncu').filter((call) => call.includes('profile'))
    expect(profiled.length).toBeGreaterThan(0)
    for (const call of profiled)
      expect(after(call, '--rung-case')).toEqual(['02_coalesced=f32+bias+relu'])
    expect(rung(session, '02_coalesced').flags).toEqual(['bias', 'relu'])
    expect(rung(session, '01_naive').flags).toEqual([])
  })

  it('go to the probe without a GPU', async () => {
    const machine = await machineWithEpilogue(['nvidia-smi', 'ncu'])
    await machine.run({ target: 'static:h200', rungs: ['01_naive', '02_coalesced'] })
    const flagged = machine
      .calls('launches')
      .map((call) => after(call, '--field').filter((word) => /^(80|88):/.test(word ?? '')))
    // The reference is asked too whether it is one, and nothing of it is launched.
    expect(flagged.sort()).toEqual([[], [], ['80:buffer:bias', '88:i32:1']])
  })
})

const nvcc = await findTool('nvcc')
describe.skipIf(nvcc === null)('with a real nvcc (skipped where none is installed)', () => {
  it('the unfused rung launches a product and an elementwise kernel, the fused one kernel', async () => {
    const real = await realCompiler()
    const library = await readKernelLibrary(shippedKernels)
    const plan = planRun(library, {
      ladder: 'seed-cutlass',
      rungs: ['21_unfused_epilogue', '20_fused_direct', '20_fused_epilogue'],
      params: {},
      profile: 'none',
    })
    const { rungs, task } = plan
    const probe = await buildLaunchProbe(real, {
      runnerSources: await readSharedFiles(shippedKernels, 'runner'),
      probeSources: await readSharedFiles(shippedKernels, 'probe'),
    })
    if (!('artefact' in probe)) throw new Error(inEnglish(probe.reason))
    const launched: Record<string, unknown> = {}
    for (const planned of rungs) {
      const { artefact, build } = await buildRung(real, plan, planned, '90', staticRungFlags)
      expect(build).toMatchObject({ spillStoreBytes: 0, spillLoadBytes: 0 })
      for (const flags of [planned.rung.header.flags, []]) {
        const answer = await probeLaunches(real.toolbox, {
          probe: probe.artefact,
          rung: planned.rung.id,
          library: artefact!,
          // Neither is a multiple of a tile; rows of n are still of whole 16 bytes.
          task,
          own: caseOf(gemmProblem(1000, 1004, 256), { flags }),
          gpu: buildGpu('h200')!,
          signal: real.signal,
        })
        if (!('kernels' in answer)) throw new Error(inEnglish(answer.reason))
        launched[`${planned.rung.id} ${flags.length > 0 ? 'with' : 'without'}`] =
          answer.kernels.map(({ name, grid }) => [/\w+(?=<)/.exec(name)?.[0], grid[0]])
      }
    }
    // 8 × 4 tiles of 128 × 256; 8 × 32 of 128 columns by 32 rows.
    expect(launched).toEqual({
      '21_unfused_epilogue with': [
        ['gemmRasterized', 32],
        ['addBiasActivate', 256],
      ],
      '21_unfused_epilogue without': [['gemmRasterized', 32]],
      '20_fused_direct with': [['gemmFusedEpilogue', 32]],
      '20_fused_direct without': [['gemmFusedEpilogue', 32]],
      '20_fused_epilogue with': [['gemmFusedEpilogue', 32]],
      '20_fused_epilogue without': [['gemmFusedEpilogue', 32]],
    })
  }, 180_000)
})
