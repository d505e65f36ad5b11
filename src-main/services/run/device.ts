/** The tools and the GPU of a run: what is there, and the toolbox of a run that names its GPU. */
import {
  askDriver,
  normalizePciBusId,
  type NvidiaSmi,
  visibleGpu,
  withVisibleGpu,
} from '../../adapters/tools/gpus'
import { runRunner, type RunnerEvent } from '../../adapters/tools/runner'
import type { Toolbox, RawRecorder } from '../../adapters/tools/toolbox'
import { message, type Statement } from '../../domain/messages/message'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import type { Device } from '../../domain/gpu/gpu'
import type { Machine } from '../../adapters/machine/machine'

// Finds the tools and the GPU of a live run, or says what is missing.

export const remedies = {
  nvcc: message('doctor.installNvcc'),
  gpu: message('doctor.useGpu'),
  ncu: message('doctor.installNcu'),
  sanitizer: message('doctor.installSanitizer'),
} as const

export async function locateNvcc(toolbox: Toolbox): Promise<string> {
  const path = await toolbox.locate('nvcc')
  if (path) return path
  throw missingError(message('doctor.toolMissing', { tool: 'nvcc' }), remedies.nvcc)
}

/** What the driver reports about its GPUs. */
export async function queryDriver(toolbox: Toolbox, signal?: AbortSignal): Promise<NvidiaSmi> {
  const asked = await askDriver(toolbox, signal)
  if (!asked) throw missingError(message('doctor.noGpu'), remedies.gpu)
  const { answer, result } = asked
  if (result.outcome === 'cancelled')
    throw new KernelLadderError('cancelled', message('asked.cancelled'))
  if (!answer)
    throw missingError(
      message('tools.driverSilent', {
        text:
          (result.stdout + result.stderr).trim().split('\n')[0] ||
          message('tools.smiEnded', { exitCode: `${result.exitCode}` }),
      }),
      message('tools.checkDriver'),
    )
  if (answer.gpus.length === 0) throw missingError(message('tools.noGpuFound'), remedies.gpu)
  return answer
}

type DeviceEvent = Extract<RunnerEvent, { event: 'device' }>

/** A GPU and its PCI location, which is not stored in sessions. */
export interface OfferedGpu {
  device: Device
  pciBusId: string
  /** Its number for nvidia-smi; null on a machine with one GPU. */
  number: number | null
}

/** The GPU that CUDA offers to the runner: queried through CUDA itself, so that CUDA_VISIBLE_DEVICES and MIG are respected. */
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

/** `9.0` → `90`. */
export const smOf = (device: Pick<Device, 'computeCapability'>): string =>
  device.computeCapability.replace('.', '')

/**
 * The architecture a rung is compiled for on this GPU, or why it cannot run on it. A feature letter
 * (`sm_90a`) restricts it to exactly that architecture.
 */
export function architectureFor(
  requires: string | null,
  device: Pick<Device, 'name' | 'computeCapability'>,
): { sm: string } | { unsupported: Statement } {
  const own = smOf(device)
  if (requires === null) return { sm: own }
  const [, number, feature] = /^sm_(\d+)([af]?)$/.exec(requires) ?? []
  const fits = feature === 'a' ? number === own : Number(own) >= Number(number)
  if (fits) return { sm: feature ? `${number}${feature}` : own }
  return {
    unsupported: message('records.needsArchitecture', {
      requires,
      gpu: device.name,
      computeCapability: device.computeCapability,
    }),
  }
}

// The toolbox of a run that names its GPU.

/**
 * @param gpu counts from 0 among the visible GPUs; undefined leaves the choice to CUDA
 * @throws an input error if CUDA_VISIBLE_DEVICES lists fewer; a number that the machine lacks is noticed by `queryDevice`
 */
export function toolboxOn(
  machine: Pick<Machine, 'toolbox' | 'variable'>,
  recorder: RawRecorder | null,
  gpu: number | undefined,
): Toolbox {
  const toolbox = machine.toolbox(recorder)
  if (gpu === undefined) return toolbox
  const listed = machine.variable('CUDA_VISIBLE_DEVICES')
  const visible = visibleGpu(gpu, listed)
  if (visible === null)
    throw inputError(
      message('asked.gpuNotListed', { gpu, listed: JSON.stringify(listed) }),
      message('asked.gpuNumbers'),
    )
  return withVisibleGpu(toolbox, gpu, visible)
}
