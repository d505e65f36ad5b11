/** Lists published figures for GPUs that were not measured, each with its source. */
import type { ParameterId } from '../../src-main/domain/prediction/parameter-table'

interface Published {
  readonly value: number
  readonly source: string
  /** True if the figure comes from this project's recordings and not from a publication. */
  readonly recorded?: true
}

export interface PublishedGpu {
  readonly name: string
  readonly gpu: string
  readonly computeCapability: string
  readonly smCount: Published
  readonly clockMHz: Published
  readonly l2Bytes: Published
  /**
   * DRAM rate in GB/s. If `reads` is set, the value is the achieved read rate. Otherwise, the value
   * is the peak rate in the data sheet.
   */
  readonly dramGBs: Published & { readonly reads?: true }
  readonly values: Partial<Record<ParameterId, Published>>
}

/** Converts NVIDIA's results per cycle and SM to cycles per warp instruction on a sub-core. */
const interval = (perSm: number, source: string): Published => ({
  value: 128 / perSm,
  source: `${source}: ${perSm} results per cycle and SM`,
})

/**
 * Converts dense multiply-adds per cycle and SM to cycles per tensor core instruction on a
 * sub-core.
 */
const tensor = (macs: number, perSm: number, source: string): Published => ({
  value: (4 * macs) / perSm,
  source: `${source}: ${perSm} multiply-adds per cycle and SM`,
})

const guide = 'CUDA C++ Programming Guide, throughput of native arithmetic instructions'
const a100 = 'NVIDIA A100 Tensor Core GPU Architecture whitepaper'
const ga102 = 'NVIDIA Ampere GA102 GPU Architecture whitepaper'
const turing = 'NVIDIA Turing GPU Architecture whitepaper'
const ceilings = 'the 54 shipped H200 recordings that have ceilings'

/** Data sheet of the measured GPU. The measured GPU's parameters are scaled to the other GPUs. */
export const measuredGpu = {
  dramGBs: { value: 3352, source: 'NVIDIA H100 data sheet, SXM5: 5 stacks of HBM3, 3.35 TB/s' },
  l2Bytes: { value: 50 * 2 ** 20, source: 'NVIDIA H100 whitepaper: 50 MB' },
}

export const publishedGpus: readonly PublishedGpu[] = [
  {
    name: 'h200',
    gpu: 'NVIDIA H200',
    computeCapability: '9.0',
    smCount: { value: 132, source: 'the shipped H200 recordings: 132 SMs', recorded: true },
    clockMHz: {
      value: 1980,
      source: 'the shipped H200 recordings: 1980 MHz at most',
      recorded: true,
    },
    l2Bytes: { value: 60 * 2 ** 20, source: 'the shipped H200 recordings: 60 MiB' },
    dramGBs: { value: 4535, source: `median read rate of ${ceilings}`, reads: true },
    values: {
      l2BytesPerCycle: {
        value: 8592 / 1.98,
        source: `median L2 read rate of ${ceilings}: 8592 GB/s over clockMHz`,
        recorded: true,
      },
    },
  },
  {
    name: 'a100',
    gpu: 'NVIDIA A100-SXM4-40GB',
    computeCapability: '8.0',
    smCount: { value: 108, source: a100 },
    clockMHz: { value: 1410, source: `${a100}: boost clock` },
    l2Bytes: { value: 40 * 2 ** 20, source: `${a100}: 40 MB` },
    dramGBs: { value: 1555, source: `${a100}: 1555 GB/s` },
    values: {
      pipeFma: interval(64, guide),
      pipeFp16: interval(128, guide),
      pipeFp64: interval(32, guide),
      pipeXu: interval(16, guide),
      pipeHmma: tensor(2048, 1024, a100),
      pipeImma: tensor(4096, 2048, a100),
      pipeDmma: tensor(256, 64, a100),
      l1Bytes: { value: 192 * 1024, source: `${a100}: 192 KB of L1 and shared memory` },
    },
  },
  {
    name: 't4',
    gpu: 'Tesla T4',
    computeCapability: '7.5',
    smCount: { value: 40, source: 'NVIDIA T4 data sheet: 2560 CUDA cores, 64 per SM' },
    clockMHz: { value: 1590, source: 'NVIDIA T4 product brief: maximum clock; less at 70 W' },
    l2Bytes: { value: 4 * 2 ** 20, source: `${turing}: TU104, 4096 KB` },
    dramGBs: { value: 320, source: 'NVIDIA T4 data sheet: 320 GB/s' },
    values: {
      pipeFma: interval(64, guide),
      pipeFp16: interval(64, guide),
      pipeFp64: interval(2, guide),
      pipeXu: interval(16, guide),
      pipeHmma: tensor(2048, 512, turing),
      pipeImma: tensor(4096, 1024, turing),
      l1Bytes: { value: 96 * 1024, source: `${turing}: 96 KB of L1 and shared memory` },
    },
  },
  {
    name: 'rtx-3090',
    gpu: 'NVIDIA GeForce RTX 3090',
    computeCapability: '8.6',
    smCount: { value: 82, source: ga102 },
    clockMHz: { value: 1695, source: `${ga102}: boost clock` },
    l2Bytes: { value: 6 * 2 ** 20, source: `${ga102}: 6144 KB` },
    dramGBs: { value: 936, source: `${ga102}: 936 GB/s` },
    values: {
      pipeFma: interval(128, guide),
      pipeFp16: interval(64, `${ga102}, FP16 at the rate of FP32`),
      pipeFp64: interval(2, guide),
      pipeXu: interval(16, guide),
      pipeHmma: tensor(2048, 256, `${ga102}, with 32-bit accumulators`),
      pipeImma: tensor(4096, 1024, ga102),
      l1Bytes: { value: 128 * 1024, source: `${ga102}: 128 KB of L1 and shared memory` },
    },
  },
]
