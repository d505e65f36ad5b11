/** Tests predictions for kernels captured on a GPU, at the small problem sizes of the captures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EmulationJob } from '../../../src-main/domain/emulation/job'
import { fillBuffer } from '../../../src-main/domain/emulator/fills'
import { ablatedValues } from '../../../src-main/domain/prediction/ablation'
import {
  parameterValues,
  readGpuParameters,
} from '../../../src-main/domain/prediction/gpu-parameters'
import { predict } from '../../../src-main/domain/prediction/predict'
import type { Prediction, PredictionGpu } from '../../../src-main/domain/prediction/prediction'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { captures, emulate, readCapture, type CapturedRung } from '../../emulated-captures'

const file = join(import.meta.dirname, '../../../resources/gpus/h100.json')
const gpu: PredictionGpu = {
  values: parameterValues(readGpuParameters(readFileSync(file, 'utf8'), file)),
  validated: true,
}

function jobOf(rung: CapturedRung, seed: number): EmulationJob {
  return {
    machineCode: rung.cubins.map((cubin) => readCubin(Buffer.from(cubin, 'hex'))),
    launches: rung.launches.map((launch) => ({
      ...launch,
      arguments: new Uint8Array(Buffer.from(launch.arguments, 'hex')),
    })),
    memory: rung.memory.map(({ before, to, from, value, bytes }) => ({
      ...{ before, bytes, to: BigInt(to), value: value ?? 0 },
      from: from === undefined ? null : BigInt(from),
    })),
    workspaceBytes: rung.workspaceBytes,
    ...{ symbols: [], stackBytes: null, checks: false, limit: 2e7, memoryBytes: 2 ** 28 },
    buffers: rung.buffers.map(({ name, bytes, fill, dtype, stream }) => {
      const contents = fill ? new Uint8Array(bytes) : null
      if (contents && fill) fillBuffer(contents, dtype, fill, seed, stream)
      return { name, bytes, contents, writable: true }
    }),
  }
}

const gemm = readCapture(captures().find((name) => name.startsWith('gemm-fp32'))!)
const rungOf = (id: string): CapturedRung => gemm.rungs.find((rung) => rung.id.startsWith(id))!
const predicted = (rung: CapturedRung, on: PredictionGpu): Prediction => {
  const answer = predict(jobOf(rung, gemm.seed), on)
  if ('refused' in answer) throw new Error(`${answer.refused}: ${answer.detail}`)
  return answer.prediction
}
const onH100 = new Map<string, Prediction>()
/**
 * Returns the prediction of a rung on the H100. Each prediction takes seconds, so tests share the
 * predictions.
 */
function predictedOf(id: string): Prediction {
  const known = onH100.get(id) ?? predicted(rungOf(id), gpu)
  onH100.set(id, known)
  return known
}

describe('a predicted launch', () => {
  it.each(['01', '03', '05'])(
    'of rung %s executes about as many instructions as the emulator counts',
    (id) => {
      const rung = rungOf(id)
      const [launch] = predictedOf(id).launches
      const [emulated] = emulate(rung, gemm.seed).launches
      const sum = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0)
      const all = sum(launch!.instructions.map(({ executed }) => executed))
      // The blocks at the edges of the grid do less work than the simulated first block.
      expect(all).toBeGreaterThan(0.8 * sum(emulated!.result.counts.executed))
      expect(all).toBeLessThan(1.5 * sum(emulated!.result.counts.executed))
    },
  )

  it('attributes all cycles of its warps to instructions', () => {
    const [launch] = predictedOf('05').launches
    const shares = launch!.instructions.reduce((sum, { share }) => sum + share, 0)
    expect(shares).toBeCloseTo(1)
    expect(launch!.stalls.barrier).toBeGreaterThan(0)
    for (const used of Object.values(launch!.utilization)) expect(used).toBeLessThanOrEqual(1.01)
  })

  it('takes longer with slower memory, and less time with a higher clock', () => {
    const usual = predictedOf('05').ms
    const change = (over: Partial<PredictionGpu['values']>): number =>
      predicted(rungOf('05'), { ...gpu, values: { ...gpu.values, ...over } }).ms
    expect(change({ latencyDram: 4 * gpu.values.latencyDram })).toBeGreaterThan(usual)
    expect(change({ clockMHz: 2 * gpu.values.clockMHz })).toBeCloseTo(usual / 2, 6)
  })

  it('is within its range, which is wider on a GPU that was not validated', () => {
    const { ms, lowMs, highMs } = predictedOf('03')
    expect(lowMs).toBeLessThan(ms)
    expect(highMs).toBeGreaterThan(ms)
    const other = predicted(rungOf('03'), { ...gpu, validated: false })
    expect(other.highMs).toBeGreaterThan(highMs)
    expect(other.widened).toContain('not-validated')
  })

  it.each([
    ['05', 'control-bits'],
    // The warps of rung 01 read columns, which requires many wavefronts.
    ['01', 'l1-replay'],
    ['05', 'register-banks'],
  ] as const)('of rung %s takes less time if %s is disabled', (id, ablation) => {
    const whole = predictedOf(id)
    const without = predicted(rungOf(id), { ...gpu, ablate: [ablation] })
    expect(without.ms).toBeLessThan(whole.ms)
    expect(without.launches[0]!.stalls).not.toEqual(whole.launches[0]!.stalls)
  })

  it('has the full clock without the power cap, and unlimited L2 rates without L2 limits', () => {
    const { values } = gpu
    expect(ablatedValues(values, [])).toEqual(values)
    expect(ablatedValues(values, ['power-cap'])).toEqual({
      ...values,
      clockTensorMHz: values.clockMHz,
    })
    const { l2Bytes, latencyL2, l2BytesPerCycle } = ablatedValues(values, ['l2-limits'])
    expect({ l2Bytes, latencyL2 }).toEqual({ l2Bytes: values.l2Bytes, latencyL2: values.latencyL2 })
    expect(l2BytesPerCycle).toBeGreaterThan(1e6 * values.l2BytesPerCycle)
  })

  it('is refused if its blocks execute too many instructions', () => {
    expect(predict({ ...jobOf(rungOf('01'), 1), limit: 10 }, gpu)).toMatchObject({
      refused: 'too-long',
    })
  })
})

describe('a launch without one cause of stalls', () => {
  const without = (id: string) => {
    const { ms, without: times } = predicted(rungOf(id), { ...gpu, removes: true })
    expect(ms).toBe(predictedOf(id).ms)
    return { ms, times: times! }
  }

  it('is not predicted unless requested', () => {
    expect(predictedOf('01')).not.toHaveProperty('without')
  })

  it('is never slower, and is much faster if scattered accesses get full sectors', () => {
    const { ms, times } = without('01')
    for (const left of Object.values(times)) expect(left).toBeLessThanOrEqual(ms)
    expect(times.sectors).toBeLessThan(0.7 * ms)
    expect(times.barriers).toBeUndefined()
  })

  it('takes less time without the barriers of a tile in shared memory', () => {
    const { ms, times } = without('03')
    expect(times.barriers).toBeLessThan(ms)
  })
})
