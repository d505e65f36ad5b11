/** Uses the runner to find the GPU that CUDA selects. */
import { normalizePciBusId, type NvidiaSmi } from '../../adapters/tools/gpus'
import { runRunner, type RunnerEvent } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message } from '../../domain/messages/message'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import type { Device } from '../../domain/gpu/device'

type DeviceEvent = Extract<RunnerEvent, { event: 'device' }>

/** A GPU and its PCI location. Sessions do not store the PCI location. */
export interface OfferedGpu {
  device: Device
  pciBusId: string
  /** nvidia-smi's index of the GPU, or null on a machine with one GPU. */
  number: number | null
}

/**
 * Returns the GPU that CUDA selects for the runner. The result respects CUDA_VISIBLE_DEVICES and
 * MIG.
 */
export async function queryDevice(
  toolbox: Toolbox,
  runner: string,
  driver: NvidiaSmi | null,
  signal: AbortSignal,
): Promise<OfferedGpu> {
  const events: RunnerEvent[] = []
  const result = await runRunner(
    toolbox,
    { key: 'runner/device', file: runner, args: ['device'], timeoutMs: 120_000, signal },
    (event) => events.push(event),
  )
  if (result.outcome === 'cancelled')
    throw new KernelLadderError('cancelled', message('asked.cancelled'))
  const event = events.find((candidate): candidate is DeviceEvent => candidate.event === 'device')
  if (!event) {
    const error = events.find((candidate) => candidate.event === 'error')
    const count = driver?.gpus.length ?? Infinity
    if (toolbox.gpu !== undefined && toolbox.gpu >= count)
      throw inputError(
        message('asked.gpuMissing', { gpu: toolbox.gpu, count }),
        message('asked.gpuNumbers'),
      )
    throw missingError(
      message('tools.noGpuUsable', {
        text:
          error?.message ??
          (result.stderr.trim() ||
            message('tools.runnerExited', { exitCode: `${result.exitCode}` })),
      }),
      message('tools.checkVisible'),
    )
  }
  const pciBusId = normalizePciBusId(event.pciBusId)
  return { device: toDevice(event, driver), pciBusId, number: numberOf(pciBusId, driver) }
}

function numberOf(pciBusId: string, driver: NvidiaSmi | null): number | null {
  if (!driver || driver.gpus.length < 2) return null
  const found = driver.gpus.findIndex((gpu) => gpu.pciBusId === pciBusId)
  return found < 0 ? null : found
}

function toDevice(event: DeviceEvent, driver: NvidiaSmi | null): Device {
  const bus = normalizePciBusId(event.pciBusId)
  const own = driver?.gpus.find(({ pciBusId }) => pciBusId === bus)
  return {
    name: event.name,
    computeCapability: event.computeCapability,
    smCount: event.smCount,
    driver: driver?.driver ?? null,
    cudaDriver: event.cudaDriver,
    smClockMaxMHz: event.smClockMaxMHz,
    ...(event.memoryClockMHz === undefined ? {} : { memoryClockMHz: event.memoryClockMHz }),
    ...(event.memoryBusBits === undefined ? {} : { memoryBusBits: event.memoryBusBits }),
    memoryTotalBytes: event.memoryTotalBytes,
    l2Bytes: event.l2Bytes,
    sharedPerSmBytes: event.sharedPerSmBytes,
    sharedPerBlockOptinBytes: event.sharedPerBlockOptinBytes,
    registersPerSm: event.registersPerSm,
    maxThreadsPerSm: event.maxThreadsPerSm,
    maxBlocksPerSm: event.maxBlocksPerSm,
    ...(own ? { mig: own.mig, ecc: own.ecc } : {}),
  }
}
