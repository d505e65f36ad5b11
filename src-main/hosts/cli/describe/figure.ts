/** Formats figures for table cells. */
import type { MetricValue } from '../../../domain/metrics/metrics'
import { formatValue } from '../../../domain/metrics/units'

/** Text for a missing value. */
export const none = '–'

export const metric = (value: MetricValue | undefined): string =>
  value?.value == null ? none : formatValue(value.value, value.unit)
