/** Tests what the command line offers on a machine without a GPU. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeAttempt } from '../../../src-main/adapters/labs/attempt'
import { newAttemptFolder } from '../../../src-main/adapters/labs/progress'
import type { HostMachine } from '../../../src-main/adapters/machine/machine'
import {
  labOutcomeVersion,
  noAnswers,
  type CheckResult,
  type LabOutcome,
} from '../../../src-main/domain/labs/outcome'
import { fakeMachine, tempDir } from '../../services/support'
import { runIn, type Finished } from './support'

/** Runs the program on a machine without nvidia-smi. */
async function here(...words: string[]): Promise<Finished> {
  const { setup } = await fakeMachine(['nvidia-smi'])
  return runIn({ machine: setup.machine as HostMachine }, ...words)
}

/** Returns the distinct targets in a text, in their original order. */
const targetsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/--target (\w+)/g)].map(([, target]) => target!)),
]

describe('without a GPU', () => {
  it('run offers an emulated GPU first, then predictions, recordings, and builds', async () => {
    const { code, stderr } = await here('run', '--ladder', 'gemm-fp32')
    expect(code).toBe(3)
    expect(targetsIn(stderr)).toEqual(['emulated', 'predicted', 'recorded', 'static'])
    expect(stderr).toMatch(/^ {2}`--target emulated`.*exact counters.*race checks.*no times\.$/m)
  })

  it('run --watch ends, because a save does not add a GPU', async () => {
    const { setup } = await fakeMachine(['nvidia-smi'])
    const machine = setup.machine as HostMachine
    const folder = join(await tempDir(), 'mine')
    expect((await runIn({ machine }, 'init', folder)).code).toBe(0)
    const { code, stderr } = await runIn({ machine }, 'run', '--ladder', folder, '--watch')
    expect(code, stderr).toBe(3)
    expect(stderr.match(/No NVIDIA GPU was found/g)).toHaveLength(1)
  })

  it('init --from does not blame the file if there is no nvcc', async () => {
    const { setup } = await fakeMachine(['nvidia-smi', 'nvcc'])
    const machine = setup.machine as HostMachine
    const folder = await tempDir()
    const file = join(folder, 'scale.cu')
    await writeFile(file, '__global__ void scale(float* x) { x[threadIdx.x] *= 2; }\n')
    const { code, stderr } = await runIn({ machine }, 'init', join(folder, 'mine'), '--from', file)
    expect(code, stderr).toBe(3)
    expect(stderr).toMatch(/nvcc was not found/)
    expect(stderr).not.toMatch(/scale\.cu/)
  })

  it('doctor lists the targets that run without a GPU only once, below the GPU', async () => {
    const { stdout } = await here('doctor')
    expect(targetsIn(stdout)).toEqual(['emulated', 'predicted', 'recorded', 'static'])
    expect(stdout.match(/--target emulated/g)).toHaveLength(1)
    expect(stdout).toMatch(/✗ GPU: .*\n {4}`--target emulated`.*\n {4}`--target predicted:h200`/)
  })

  it('init suggests an emulated GPU, or a real GPU if available', async () => {
    const { stderr } = await here('init', join(await tempDir(), 'mine'))
    expect(targetsIn(stderr)).toEqual(['emulated', 'static'])
    const { setup } = await fakeMachine()
    const machine = setup.machine as HostMachine
    const withGpu = await runIn({ machine }, 'init', join(await tempDir(), 'mine'))
    expect(targetsIn(withGpu.stderr)).toEqual([])
  })

  it.each(['tune --rung 06_float4', 'regress --against HEAD'])(
    '%s suggests no target without a GPU, because it must measure times',
    async (words) => {
      const { stderr } = await here(...words.split(' '), '--ladder', 'gemm-fp32')
      expect(targetsIn(stderr)).toEqual([])
    },
  )
})

const check = (kind: CheckResult['kind'], status: CheckResult['status']): CheckResult => ({
  ...{ id: kind, kind, status },
  ...{ title: '', sentence: '', figures: [] },
})

const passed = (lab: string, checks: CheckResult[]): LabOutcome => ({
  schema: labOutcomeVersion,
  ...{ lab, title: lab, createdAt: '2026-11-20T10:00:00.000Z', status: 'passed' },
  target: { kind: 'emulated', name: 'h200' },
  device: { name: 'H200', computeCapability: '9.0' },
  ...{ reason: null, sourceHash: 'of its own', checks, predictions: [], questions: [] },
  build: {
    ...{ ok: true, architecture: 'sm_90', reason: null },
    ...{ resources: null, diagnostics: [], occupancy: [] },
  },
})

describe('lab list', () => {
  it('counts and marks a pass on an emulated GPU if all checks except time checks were judged', async () => {
    const { setup } = await fakeMachine(['nvidia-smi'])
    const machine = setup.machine as HostMachine
    const attempt = async (lab: string, checks: CheckResult[]): Promise<void> => {
      const folder = newAttemptFolder(machine.folders, lab)
      await mkdir(folder, { recursive: true })
      await writeAttempt(folder, { answers: noAnswers, outcome: passed(lab, checks) }, '', {})
    }
    const right = check('correctness', 'passed')
    await attempt('02-shared-tile', [right, check('time', 'unavailable')])
    await attempt('05-register-tile', [right, check('metric', 'unavailable')])
    const { stdout } = await runIn({ machine }, 'lab', 'list')
    expect(stdout).toMatch(/^02-shared-tile .*\bpassed, emulated\b/m)
    expect(stdout).toMatch(/^05-register-tile .*\bstarted\b/m)
    expect(stdout).not.toMatch(/^01-coalescing .*\b(started|passed)\b/m)
  })
})
