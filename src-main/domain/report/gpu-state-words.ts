/** Describes the state of the GPU while rungs were timed. */
import { message, type Statement } from '../messages/message'
import type { Session } from '../session/session'
import type { Device } from '../gpu/device'
import type { ClockReason, GpuState } from '../gpu/gpu-state'

const reasonWords = (reasons: readonly ClockReason[]): Statement =>
  reasons
    .map((reason): Statement => message(`clockReason.${reason}`))
    .reduceRight((rest, part) => message('checks.and', { part, rest }))

/**
 * Returns why the clocks were reduced. Times at reduced clocks are less representative of the code.
 * Returns null if no reason is known.
 */
export function throttleStatement(state: GpuState | undefined): Statement | null {
  const reasons = state?.heldDownBy ?? []
  return reasons.length === 0
    ? null
    : message('gpuState.heldDown', { reasons: reasonWords(reasons) })
}

const whole = (value: number | null): string => (value === null ? '–' : value.toFixed(0))

/** Returns power, temperature and clocks over one or more timings, or null if all are unknown. */
function stateWords(states: readonly GpuState[]): Statement | null {
  const most = (
    which: 'temperatureC' | 'powerW' | 'powerLimitW' | 'smClockHighMHz',
  ): number | null => {
    const known = states.flatMap((state) => state[which] ?? [])
    return known.length === 0 ? null : Math.max(...known)
  }
  const low = states.flatMap(({ smClockLowMHz }) => smClockLowMHz ?? [])
  if (low.length === 0 && most('powerW') === null) return null
  return message('gpuState.figures', {
    low: whole(low.length === 0 ? null : Math.min(...low)),
    high: whole(most('smClockHighMHz')),
    power: whole(most('powerW')),
    limit: whole(most('powerLimitW')),
    temperature: whole(most('temperatureC')),
  })
}

/** Returns power, temperature and clocks during one rung's timing. */
export const gpuStateWords = (state: GpuState | undefined): Statement | null =>
  state ? stateWords([state]) : null

/**
 * Returns power, temperature and clocks over all timings of a session, and the number of timings
 * with reduced clocks.
 */
export function sessionGpuWords({ rungs }: Pick<Session, 'rungs'>): Statement | null {
  const states = rungs.flatMap(({ timing }) => timing?.gpu ?? [])
  const words = stateWords(states)
  if (words === null) return null
  const throttled = states.filter(({ heldDownBy }) => (heldDownBy?.length ?? 0) > 0)
  if (throttled.length === 0)
    return states.every(({ heldDownBy }) => heldDownBy === null)
      ? words
      : message('gpuState.free', { figures: words })
  const reasons = [...new Set(throttled.flatMap(({ heldDownBy }) => heldDownBy ?? []))]
  return message('gpuState.heldDownIn', {
    figures: words,
    reasons: reasonWords(reasons),
    count: throttled.length,
    all: states.length,
  })
}

/** Returns the ECC and MIG modes, or null if both are unknown. */
export function gpuModeWords(device: Pick<Device, 'ecc' | 'mig'> | null): Statement | null {
  const word = (mode: boolean | null | undefined): Statement =>
    mode == null ? message('provenance.unknown') : message(mode ? 'gpuState.on' : 'gpuState.off')
  if (device?.ecc == null && device?.mig == null) return null
  return message('gpuState.modes', { ecc: word(device.ecc), mig: word(device.mig) })
}
