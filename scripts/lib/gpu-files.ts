/**
 * Generates resources/gpus. If a GPU has stored microbenchmark output, its parameters are fitted to
 * that output. For any other GPU, published values are used. Missing published values are scaled
 * from a measured GPU.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCalibration } from '../../src-main/domain/prediction/calibration-output'
import { fitParameters } from '../../src-main/domain/prediction/fit-parameters'
import {
  gpuParametersText,
  parameterIds,
  type GpuParameters,
  type ParameterValue,
} from '../../src-main/domain/prediction/gpu-parameters'
import type { ParameterId } from '../../src-main/domain/prediction/parameter-table'
import { measuredGpu, publishedGpus, type PublishedGpu } from './published-gpus'

/** GPUs whose predictions were compared with measured times (docs/guides/calibration.md). */
const validated: readonly string[] = ['h100', 'h200']

/** The measured GPU whose parameters are scaled to other GPUs. */
const baseName = 'h100'

const bySms: readonly ParameterId[] = [
  ...([
    'blocksPerCycle',
    'l2RequestsPerCycle',
    'l2BytesPerCycle',
    'l2SharedBytesPerCycle',
  ] as const),
  ...(['l2StoreRequestsPerCycle', 'l2StoreBytesPerCycle'] as const),
  ...(['atomicsPerCycle', 'atomicRequestsPerCycle'] as const),
]

/**
 * Cycle counts that scale with the SM clock. The underlying delays are outside the SMs, so they are
 * constant in nanoseconds.
 */
const byClock: readonly ParameterId[] = [
  ...(['launchCycles', 'launchGapCycles', 'latencyL2', 'latencyDram', 'latencyBulkCopy'] as const),
  ...(['latencyAtomicGlobal', 'latencyConstantMiss', 'instructionMissCycles'] as const),
]

const dram: readonly ParameterId[] = [
  'dramBytesPerCycle',
  'dramWriteBytesPerCycle',
  'dramCopyBytesPerCycle',
]

const ofWgmma: readonly ParameterId[] = ['hgmmaMacsPerCycle', 'hgmmaLeastCycles', 'latencyHgmma']

const rounded = (value: number): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(4))

function scaledValue(id: ParameterId, gpu: PublishedGpu, base: GpuParameters): ParameterValue {
  const from = (ratio: number, how: string): ParameterValue => ({
    value: rounded(base.values[id].value * ratio),
    evidence: 'assumed',
    source: `${base.gpu}, ${how}`,
  })
  const clockRatio = gpu.clockMHz.value / base.values.clockMHz.value
  if (bySms.includes(id))
    return from(gpu.smCount.value / base.values.smCount.value, 'in proportion to the SMs')
  if (byClock.includes(id)) return from(clockRatio, 'the same time')
  if (id === 'clockTensorMHz') return from(clockRatio, 'the same share of the clock')
  if (ofWgmma.includes(id) && gpu.computeCapability !== '9.0')
    return from(1, 'never read: there is no WGMMA on this GPU')
  if (dram.includes(id)) {
    const { value, source, reads } = gpu.dramGBs
    const reached = reads
      ? base.values.dramBytesPerCycle.value
      : measuredGpu.dramGBs.value / (base.values.clockMHz.value / 1000)
    const share = base.values[id].value / reached
    const of = reads ? 'its reads' : `the peak of ${measuredGpu.dramGBs.source}`
    return {
      value: rounded((value * 1000 * share) / gpu.clockMHz.value),
      evidence: 'derived',
      source: `${source}; times the share of ${of} that the ${base.name} reaches, over clockMHz`,
    }
  }
  return from(1, 'the same')
}

function fromPublished(gpu: PublishedGpu, base: GpuParameters): GpuParameters {
  const published = { ...gpu.values, smCount: gpu.smCount, clockMHz: gpu.clockMHz }
  const valueOf = (id: ParameterId): ParameterValue => {
    const known = published[id]
    if (known) {
      const { value, source, recorded } = known
      return { value: rounded(value), evidence: recorded ? 'derived' : 'published', source }
    }
    if (id !== 'l2Bytes') return scaledValue(id, gpu, base)
    return {
      value: rounded((gpu.l2Bytes.value * base.values.l2Bytes.value) / measuredGpu.l2Bytes.value),
      evidence: 'derived',
      source: `${gpu.l2Bytes.source}; times the share that one sweep can use on the ${base.name}`,
    }
  }
  return {
    kernel_ladder_gpu: 1,
    ...{ name: gpu.name, gpu: gpu.gpu, computeCapability: gpu.computeCapability },
    validated: validated.includes(gpu.name),
    values: Object.fromEntries(
      parameterIds.map((id) => [id, valueOf(id)]),
    ) as GpuParameters['values'],
  }
}

/** Returns the parameters of all shipped GPUs by id. */
export function shippedGpus(root: string): Map<string, GpuParameters> {
  const captures = join(root, 'test/captures/calibrate')
  const measured = readdirSync(captures)
    .filter((file) => file.endsWith('.jsonl'))
    .sort()
    .map((file) => {
      const fitted = fitParameters(readCalibration(readFileSync(join(captures, file), 'utf8')))
      return { ...fitted, validated: validated.includes(fitted.name) }
    })
  const base = measured.find(({ name }) => name === baseName)
  if (!base) throw new Error(`${captures} has no output of the ${baseName}`)
  const others = publishedGpus
    .filter(({ name }) => measured.every((one) => one.name !== name))
    .map((gpu) => fromPublished(gpu, base))
  return new Map([...measured, ...others].map((gpu) => [gpu.name, gpu]))
}

/** Returns the contents of resources/gpus by file name. */
export const gpuFileTexts = (root: string): Map<string, string> =>
  new Map(
    [...shippedGpus(root)].map(([name, gpu]) => [`${name}.json`, gpuParametersText(gpu)] as const),
  )
