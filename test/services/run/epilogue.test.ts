/** A rung that says what it computes beside the product: who is told, and what the real kernels launch. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inEnglish } from '../../../src-main/domain/messages/wording'
import { diskBuildCache } from '../../../src-main/adapters/disk/build-cache'
import {
  readKernelLibrary,
  readSharedFiles,
} from '../../../src-main/adapters/kernels/kernel-library'
import { probeLaunches } from '../../../src-main/adapters/tools/launch-probe'
import { findTool, liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import { staticRungFlags } from '../../../src-main/adapters/tools/nvcc'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { buildGpu } from '../../../src-main/domain/gpu/gpus'
import {
  buildLaunchProbe,
  buildRung,
  buildRunner,
  type Compiler,
} from '../../../src-main/services/run/build'
import { planRun } from '../../../src-main/services/run/plan'
import { fakeMachine, root, rung, tempDir, type Machine } from '../support'

const after = (words: readonly string[], option: string): (string | undefined)[] =>
  words.flatMap((word, index) => (word === option ? [words[index + 1]] : []))

async function machineWithEpilogue(without: readonly string[] = []): Promise<Machine> {
  const machine = await fakeMachine(without)
  await machine.editRung('02_coalesced', (text) =>
    text.replace('// @dtype', '// @epilogue relu, bias\n// @dtype'),
  )
  return machine
}

describe('the epilogue that a header names', () => {
  it('goes to the runner with that rung alone, under ncu too, and into the session', async () => {
    const machine = await machineWithEpilogue()
    const { session } = await machine.run({ rungs: ['01_naive', '02_coalesced'] })
    const calls = machine.calls('runner').filter(([, command]) => command === 'measure')
    expect(calls.length).toBeGreaterThan(0)
    for (const call of calls)
      expect(after(call, '--rung-epilogue')).toEqual(['02_coalesced=bias+relu'])
    const profiled = machine.calls('ncu').filter((call) => call.includes('profile'))
    expect(profiled.length).toBeGreaterThan(0)
    for (const call of profiled)
      expect(after(call, '--rung-epilogue')).toEqual(['02_coalesced=bias+relu'])
    expect(rung(session, '02_coalesced').epilogue).toEqual(['bias', 'relu'])
    expect(rung(session, '01_naive')).not.toHaveProperty('epilogue')
  })

  it('goes to the probe without a GPU', async () => {
    const machine = await machineWithEpilogue(['nvidia-smi', 'ncu'])
    await machine.run({ target: 'static:h200', rungs: ['01_naive', '02_coalesced'] })
    expect(
      machine
        .calls('launches')
        .map((call) => after(call, '--epilogue'))
        .sort(),
    ).toEqual([[], ['bias+relu']])
  })
})

const nvcc = await findTool('nvcc')
const kernels = join(root, 'cuda-kernels')

async function compiler(): Promise<Compiler> {
  return {
    toolbox: liveToolbox(null),
    cache: diskBuildCache(await tempDir()),
    recorder: null,
    nvcc: nvcc!,
    version: 'test',
    includes: await readSharedFiles(kernels, 'include'),
    signal: new AbortController().signal,
  }
}

describe.skipIf(nvcc === null)('with a real nvcc (skipped where none is installed)', () => {
  it('the unfused rung launches a product and an elementwise kernel, the fused one kernel', async () => {
    const real = await compiler()
    const library = await readKernelLibrary(kernels)
    const { rungs } = planRun(library, {
      ladder: 'seed-cutlass',
      rungs: ['21_unfused_epilogue', '20_fused_direct', '20_fused_epilogue'],
      params: {},
      target: 'local',
      profile: 'none',
    })
    const probe = await buildLaunchProbe(real, {
      runnerSources: await readSharedFiles(kernels, 'runner'),
      probeSources: await readSharedFiles(kernels, 'probe'),
    })
    if (!('artefact' in probe)) throw new Error(inEnglish(probe.reason))
    const launched: Record<string, unknown> = {}
    for (const planned of rungs) {
      const { artefact, build } = await buildRung(real, planned, '90', staticRungFlags)
      expect(build).toMatchObject({ spillStoreBytes: 0, spillLoadBytes: 0 })
      for (const epilogue of [planned.rung.header.epilogue, undefined]) {
        const answer = await probeLaunches(real.toolbox, {
          probe: probe.artefact,
          rung: planned.rung.id,
          library: artefact!,
          // Neither is a multiple of a tile; rows of n are still of whole 16 bytes.
          problem: { m: 1000, n: 1004, k: 256, alpha: 1, beta: 0, dtype: 'f32' },
          epilogue,
          gpu: buildGpu('h200')!,
          signal: real.signal,
        })
        if (!('kernels' in answer)) throw new Error(inEnglish(answer.reason))
        launched[`${planned.rung.id} ${epilogue ? 'with' : 'without'}`] = answer.kernels.map(
          ({ name, grid }) => [/\w+(?=<)/.exec(name)?.[0], grid[0]],
        )
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

  it('the runner refuses an epilogue that it does not know, or of no rung of the call', async () => {
    const runner = await buildRunner(await compiler(), await readSharedFiles(kernels, 'runner'))
    const refused = async (...words: string[]): Promise<unknown> => {
      const args = ['measure', '--m', '1', '--n', '1', '--k', '1', '--rung', 'a=/none.so', ...words]
      const { stdout, exitCode } = await runProcess({ file: runner, args })
      expect(exitCode).toBe(2)
      return (JSON.parse(stdout.split('\n')[0]!) as { message: unknown }).message
    }
    expect(await refused('--rung-epilogue', 'a=gelu')).toBe(
      "--rung-epilogue must be bias, relu or bias+relu, not 'gelu'",
    )
    expect(await refused('--rung-epilogue', 'b=bias')).toBe(
      '--rung-epilogue b is not one of the rungs',
    )
    expect(await refused('--rung-epilogue', 'a=bias', '--rung-epilogue', 'a=relu')).toBe(
      '--rung-epilogue a was given twice',
    )
    expect(await refused('--rung-epilogue', 'bias')).toBe(
      "--rung-epilogue must be ID=bias+relu, not 'bias'",
    )
  }, 120_000)
})
