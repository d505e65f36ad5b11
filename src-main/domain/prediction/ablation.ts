/** Parts of the model that can be disabled to measure their contribution to the accuracy. */
import type { ParameterId, ParameterValues } from './parameter-table'

export const ablations = [
  'control-bits',
  'register-banks',
  'l1-replay',
  'l2-limits',
  'power-cap',
] as const
export type Ablation = (typeof ablations)[number]

/** A rate so high that requests take practically no time. */
const unlimited = 1e12

/** Returns the parameters of a GPU without the limits of the disabled parts. */
export function ablatedValues(
  values: ParameterValues,
  ablate: readonly Ablation[],
): ParameterValues {
  const changed: Record<ParameterId, number> = { ...values }
  if (ablate.includes('l2-limits'))
    Object.assign(changed, {
      ...{ l2RequestsPerCycle: unlimited, l2BytesPerCycle: unlimited },
      ...{ l2StoreRequestsPerCycle: unlimited, l2StoreBytesPerCycle: unlimited },
      l2SharedBytesPerCycle: unlimited,
    })
  if (ablate.includes('power-cap')) changed.clockTensorMHz = values.clockMHz
  return changed
}
