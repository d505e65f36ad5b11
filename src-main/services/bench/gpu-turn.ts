/** Waits for exclusive use of a GPU and detects other programs that use the GPU. */
import type { GpuHolder } from '../../adapters/tools/gpu-lock'
import { askDriver } from '../../adapters/tools/gpus'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { missingError } from '../../domain/errors'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'

interface GpuTurn {
  toolbox: Toolbox
  gpu: { name: string; pciBusId: string }
  /** Whether to wait for the GPU. If false, `inTurn` throws an error if the GPU is in use. */
  wait: boolean
  signal: AbortSignal
  /** Called with notices, such as the reason for waiting. */
  onNotice: (notice: Statement) => void
}

function inUse(gpu: GpuTurn['gpu'], by: GpuHolder | null): AnyMessage {
  const named = `${gpu.name} (${gpu.pciBusId})`
  return by
    ? message('tools.gpuInUse', {
        gpu: named,
        pid: String(by.pid),
        user: by.user,
        since: new Date(by.since).toLocaleTimeString('en-GB'),
      })
    : message('tools.gpuInUseBySilent', { gpu: named })
}

/** Runs the work while no other run of this program uses the GPU. A replay does not wait. */
export async function inTurn<T>(turn: GpuTurn, work: () => Promise<T>): Promise<T> {
  const { toolbox, gpu, wait, signal, onNotice } = turn
  const claim = await toolbox.claimGpu({
    pciBusId: gpu.pciBusId,
    wait,
    signal,
    onWait: (by) => onNotice(message('tools.waitingForGpu', { why: inUse(gpu, by) })),
  })
  if (claim.state === 'taken')
    throw missingError(inUse(gpu, claim.by), message('tools.waitYourself'))
  if (claim.state === 'unavailable')
    onNotice(message('tools.gpuNotReserved', { gpu: gpu.name, text: claim.reason }))
  try {
    // If the run was canceled during the wait, `work` detects this and returns the finished parts.
    return await work()
  } finally {
    if (claim.state === 'held') claim.lock.release()
  }
}

/**
 * Whether another program uses the GPU, according to the driver. This program's own GPU processes
 * must have exited before the call.
 */
export async function isShared(
  { toolbox, gpu, signal }: Pick<GpuTurn, 'toolbox' | 'gpu' | 'signal'>,
  when: 'before' | 'after',
): Promise<boolean> {
  try {
    const driver = await askDriver(toolbox, signal, when)
    const own = driver?.answer?.gpus.find(({ pciBusId }) => pciBusId === gpu.pciBusId)
    return (own?.computing ?? 0) > 0
  } catch {
    // Ignore a driver error in this check, because the measured times are still valid.
    return false
  }
}
