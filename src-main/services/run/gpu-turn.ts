/** A GPU for one run alone: waits for its turn, and notices who computes there beside it. */
import type { GpuHolder } from '../../adapters/tools/gpu-lock'
import { askDriver } from '../../adapters/tools/nvidia-smi'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { missingError } from '../../domain/errors'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'

export interface GpuTurn {
  toolbox: Toolbox
  gpu: { name: string; pciBusId: string }
  /** false: an error in place of a wait. */
  wait: boolean
  signal: AbortSignal
  /** What the wait is for, and what else there is to know of it. */
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

/** Does the work while no other run of this program uses the GPU; a replay uses none. */
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
    // Cancelled while it waited: the work sees so itself, and what was finished before is kept.
    return await work()
  } finally {
    if (claim.state === 'held') claim.lock.release()
  }
}

/** Whether the driver lists a program that computes on the GPU; ours are to have ended. */
export async function isShared(
  { toolbox, gpu, signal }: Pick<GpuTurn, 'toolbox' | 'gpu' | 'signal'>,
  when: 'before' | 'after',
): Promise<boolean> {
  try {
    const asked = await askDriver(toolbox, signal, when)
    const own = asked?.answer?.gpus.find(({ pciBusId }) => pciBusId === gpu.pciBusId)
    return (own?.computing ?? 0) > 0
  } catch {
    // What the driver says here is no reason to lose a timing.
    return false
  }
}
