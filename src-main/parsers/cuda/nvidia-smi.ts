/**
 * Parses `nvidia-smi -q -x`, an XML document. Entities declared in the document's DOCTYPE are not
 * expanded.
 *
 * Values that the driver does not report (`N/A`, `[N/A]`, a deprecation notice) become null.
 *
 * The document identifies the machine by serial numbers, UUIDs, and other users' processes. Call
 * redactNvidiaSmi before writing the document anywhere.
 */
import { XMLParser } from 'fast-xml-parser'
import { inputError, missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

interface NvidiaSmiGpu {
  /** The PCI bus id in the format that normalizePciBusId returns. */
  pciBusId: string | null
  name: string
  architecture: string | null
  memoryTotalBytes: number | null
  smClockMHz: number | null
  smClockMaxMHz: number | null
  memoryClockMHz: number | null
  temperatureC: number | null
  powerW: number | null
  persistence: boolean | null
  mig: boolean | null
  ecc: boolean | null
  /**
   * Number of compute processes that the driver lists for the GPU. The driver omits processes in
   * other containers.
   */
  computing: number
}

export interface NvidiaSmi {
  driver: string | null
  /** The newest CUDA version that the driver supports. */
  cuda: string | null
  gpus: NvidiaSmiGpu[]
}

/**
 * Converts a bus id from CUDA's format, `0000:3b:00.0`, to nvidia-smi's format, `00000000:3B:00.0`.
 */
export function normalizePciBusId(text: string): string {
  const [, domain = '', bus = '', device = '', fn = '0'] =
    /^(?:([0-9a-f]+):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?$/i.exec(text.trim()) ?? []
  if (bus === '') throw inputError(`${JSON.stringify(text)} is not a PCI bus id.`)
  return `${domain.padStart(8, '0')}:${bus.padStart(2, '0')}:${device.padStart(2, '0')}.${fn}`.toUpperCase()
}

type Node = { [tag: string]: Node | Node[] | string | undefined }

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  processEntities: false,
  isArray: (tag) => tag === 'gpu' || tag === 'process_info',
})

/** Returns the text at a tag path under a node, or null if the path does not exist. */
function textAt(node: Node, ...path: string[]): string | null {
  let here: Node | Node[] | string | undefined = node
  for (const tag of path) {
    if (typeof here !== 'object' || Array.isArray(here)) return null
    here = here[tag]
  }
  return typeof here === 'string' && !/^\[?N\/A\]?$/i.test(here) ? here : null
}

/**
 * Converts text such as `1980 MHz` to 1980. Returns null if the text does not have the given unit.
 */
function quantity(text: string | null, unit: string): number | null {
  const [, value, found] = /^(-?\d{1,15}(?:\.\d+)?) (\S+)$/.exec(text ?? '') ?? []
  return found === unit ? Number(value) : null
}

const enabled = (text: string | null): boolean | null =>
  text === 'Enabled' ? true : text === 'Disabled' ? false : null

/**
 * Counts processes that have a CUDA context (types `C`, `C+G`, `M+C`). Excludes the MPS server,
 * which has a context for its clients but computes nothing.
 */
function computingProcesses(gpu: Node): number {
  const { processes } = gpu
  if (typeof processes !== 'object' || Array.isArray(processes)) return 0
  const { process_info: infos } = processes
  if (!Array.isArray(infos)) return 0
  return infos.filter(
    (info) =>
      textAt(info, 'type')?.split('+').includes('C') &&
      !textAt(info, 'process_name')?.endsWith('nvidia-cuda-mps-server'),
  ).length
}

function parseGpu(gpu: Node): NvidiaSmiGpu {
  const mebibytes = quantity(textAt(gpu, 'fb_memory_usage', 'total'), 'MiB')
  const busId = textAt(gpu, 'pci', 'pci_bus_id') ?? textAt(gpu, '@id')
  return {
    pciBusId: busId === null ? null : normalizePciBusId(busId),
    name: textAt(gpu, 'product_name') ?? 'unknown GPU',
    architecture: textAt(gpu, 'product_architecture'),
    memoryTotalBytes: mebibytes === null ? null : mebibytes * 1024 ** 2,
    smClockMHz: quantity(textAt(gpu, 'clocks', 'sm_clock'), 'MHz'),
    smClockMaxMHz: quantity(textAt(gpu, 'max_clocks', 'sm_clock'), 'MHz'),
    memoryClockMHz: quantity(textAt(gpu, 'clocks', 'mem_clock'), 'MHz'),
    temperatureC: quantity(textAt(gpu, 'temperature', 'gpu_temp'), 'C'),
    // Drivers before 535 name these tags power_readings and power_draw.
    powerW:
      quantity(textAt(gpu, 'gpu_power_readings', 'instant_power_draw'), 'W') ??
      quantity(textAt(gpu, 'gpu_power_readings', 'power_draw'), 'W') ??
      quantity(textAt(gpu, 'power_readings', 'power_draw'), 'W'),
    persistence: enabled(textAt(gpu, 'persistence_mode')),
    mig: enabled(textAt(gpu, 'mig_mode', 'current_mig')),
    ecc: enabled(textAt(gpu, 'ecc_mode', 'current_ecc')),
    computing: computingProcesses(gpu),
  }
}

const notADocument = (text: string): Error =>
  inputError(message('tools.smiIncomplete', { text: JSON.stringify(text) }))

function logOf(xml: string): Node | undefined {
  try {
    return (parser.parse(xml) as Node).nvidia_smi_log as Node | undefined
  } catch {
    return undefined
  }
}

export function parseNvidiaSmi(xml: string): NvidiaSmi {
  if (!xml.includes('</nvidia_smi_log>')) {
    const text = xml.trim().split('\n')[0]?.slice(0, 200) ?? ''
    if (/NVIDIA-SMI has failed|No devices were found|NVML/i.test(text))
      throw missingError(message('tools.smiNoGpu', { text }), message('tools.checkModule'))
    throw notADocument(text)
  }
  const log = logOf(xml)
  if (typeof log !== 'object') throw notADocument(xml.trim().slice(0, 80))
  const gpus = Array.isArray(log.gpu) ? log.gpu : []
  return {
    driver: textAt(log, 'driver_version'),
    cuda: textAt(log, 'cuda_version'),
    gpus: gpus.map(parseGpu),
  }
}

/** Tags whose text identifies a board, a machine, a cluster position, a user, or a process. */
const identifying =
  /<(\w*(?:serial|uuid|guid|chassis)\w*|pdi|board_id|host_id|slot_number|tray_index|module_id|cliqueId|vm_id|vm_name|pid|process_name)>([^<]*)<\/\1>/gi

/** Replaces all text that identifies the machine or its users. All other bytes stay unchanged. */
export const redactNvidiaSmi = (xml: string): string =>
  xml.replace(identifying, (whole, tag: string, value: string) =>
    /^\s*(N\/A)?\s*$/.test(value) ? whole : `<${tag}>REDACTED</${tag}>`,
  )
