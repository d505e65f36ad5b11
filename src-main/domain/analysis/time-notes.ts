/** Short notes that are shown next to a time. */
import { message, type AnyMessage } from '../messages/message'
import { formatMs } from '../metrics/units'
import type { Timing } from '../session/session'
import { clocksDiffer } from './comparability'

/**
 * Below this time in milliseconds, a kernel takes up only a small part of the time between two CUDA
 * events.
 */
const shortMs = 0.01

/**
 * Returns the GPU time of a short launch. Returns null if the GPU time is unknown or if the time
 * between CUDA events is accurate enough.
 */
export const ownGpuMs = ({ medianMs, gpuMs }: Timing): number | null =>
  medianMs < shortMs ? (gpuMs ?? null) : null

export function timeNotes(timing: Timing): AnyMessage[] {
  const { settled, late = 0, includesHost = false, gpu } = timing
  const limitedBy = gpu?.heldDownBy ?? []
  const own = ownGpuMs(timing)
  const [clock, reference] = [timing.clockMHz, timing.referenceClockMHz]
  return [
    ...(own === null ? [] : [message('timeNote.gpu', { time: formatMs(own) })]),
    ...(settled ? [] : [message('timeNote.unsettled')]),
    ...(limitedBy.includes('powerCap') ? [message('timeNote.powerCap')] : []),
    ...(limitedBy.length > 0 && !limitedBy.includes('powerCap')
      ? [message('timeNote.heldDown')]
      : []),
    ...(clock != null && reference != null && clocksDiffer(clock, reference)
      ? [
          message('timeNote.unequalClocks', {
            clock: Math.round(clock),
            reference: Math.round(reference),
          }),
        ]
      : []),
    ...(includesHost ? [message('timeNote.includesHost')] : []),
    ...(late === 0 ? [] : [message('timeNote.late', { count: late })]),
  ]
}
