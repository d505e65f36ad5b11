/**
 * Converts ncu's values for a rung's launches to the registry's metrics and units.
 *
 * A rung may launch several kernels. `aggregate` in the registry defines how to combine the
 * kernels' values. Unknown values become `unavailable` and include the reason.
 */
import type { NcuLaunch } from './ncu-csv'
import { message, type Statement } from '../../domain/messages/message'
import { type MetricDefinition, type ProfileLevel } from '../../domain/metrics/metric-definition'
import { metricsAtLevel, unavailable, type MetricValue } from '../../domain/metrics/metrics'
import {
  type Counted,
  instructionFigures,
  notAsked,
  withDerived,
} from '../../domain/session/registry-figures'
import type { Unit } from '../../domain/metrics/units'
import { metricParts } from '../../domain/metrics/metric-parts'

const durationName = 'gpu__time_duration.sum'

/**
 * Factors for converting ncu's base units to the registry's units. A missing factor means 1. If ncu
 * reports no unit, values with these registry units are rejected, because they could be off by an
 * unknown scale factor.
 */
const conversions: Partial<Record<Unit, Record<string, number>>> = {
  ms: { ns: 1e-6 },
  s: { ns: 1e-9 },
  MHz: { hz: 1e-6 },
  // A sector has 32 bytes in every cache on every GPU that ncu supports.
  bytes: { sector: 32 },
}

const numberOf = (launch: NcuLaunch, name: string): number | null => {
  const value = launch.metrics[name]?.value
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

const durationOf = (launch: NcuLaunch): number => numberOf(launch, durationName) ?? 0

/**
 * Returns a launch's duration under ncu, in milliseconds. Returns null if ncu did not collect the
 * duration or its unit is unknown.
 */
export function launchMs({ metrics }: Pick<NcuLaunch, 'metrics'>): number | null {
  const { value, unit } = metrics[durationName] ?? {}
  return typeof value === 'number' && value >= 0 && unit === 'ns' ? value / 1e6 : null
}

type Result = { value: number } | { reason: Statement }

function aggregate(
  launches: readonly NcuLaunch[],
  values: readonly number[],
  how: MetricDefinition['aggregate'],
): Result {
  const only = values[0]
  if (values.length === 1 && only !== undefined) return { value: only }
  if (how === 'sum') return { value: values.reduce((sum, value) => sum + value, 0) }

  const durations = launches.map(durationOf)
  if (durations.some((duration) => duration <= 0))
    return {
      reason: message('records.noDurations', {
        count: launches.length,
        metricName: durationName,
      }),
    }
  if (how === 'longest-kernel') return { value: values[durations.indexOf(Math.max(...durations))]! }
  const total = durations.reduce((sum, duration) => sum + duration, 0)
  return {
    value: values.reduce((sum, value, index) => sum + value * (durations[index]! / total), 0),
  }
}

/**
 * Returns the reason that none of the metric names has a value. Either the columns are missing, or
 * they have no values.
 */
function missingReason(launches: readonly NcuLaunch[], names: readonly string[]): Statement {
  const reported = names.find((name) => launches.some(({ metrics }) => metrics[name]))
  if (!reported) return message('records.notReported', { names: names.join(' or ') })
  const launch = launches.find((one) => numberOf(one, reported) === null)
  const [kernel, value] = [launch?.kernelName ?? '', launch?.metrics[reported]?.reported]
  return value === undefined
    ? message('records.noFigure', { metricName: reported, kernel })
    : message('records.notFinite', { metricName: reported, kernel, value })
}

function toMetric(launches: readonly NcuLaunch[], definition: MetricDefinition): MetricValue {
  const { unit, ncu: names } = definition
  if (launches.length === 0) return unavailable(unit, message('records.noKernelProfiled'))
  for (const name of names) {
    const values = launches.map((launch) => numberOf(launch, name))
    if (!values.every((value) => value !== null)) continue
    const reported = launches[0]!.metrics[name]!.unit
    if (unit === '%' && reported !== '%' && reported !== '')
      return unavailable(unit, message('records.notPercent', { metricName: name, unit: reported }))
    const result = aggregate(launches, values, definition.aggregate)
    if ('reason' in result) return unavailable(unit, result.reason)
    // In a table without a units row, the unit prefix is unknown, so 2.5 could mean gigabytes.
    if (reported === '' && conversions[unit])
      return unavailable(unit, message('records.noUnit', { metricName: name }))
    // ncu rounds to two decimals. A launch has at least one block, so 0 waves is a rounding
    // artifact.
    if (unit === 'waves' && result.value === 0)
      return unavailable(unit, message('records.roundedToZero', { metricName: name }))
    const factor = conversions[unit]?.[reported] ?? 1
    return { value: result.value * factor, unit, evidence: 'measured' }
  }
  return fromParts(launches, definition) ?? unavailable(unit, missingReason(launches, names))
}

/**
 * Computes a metric from other counters for the same launches. Returns null if a counter is
 * missing.
 */
function fromParts(
  launches: readonly NcuLaunch[],
  { id, unit, aggregate: how }: MetricDefinition,
): MetricValue | null {
  const parts = metricParts[id]
  if (!parts) return null
  const values = launches.map((launch) => {
    const figures = parts.from.map((name) => numberOf(launch, name))
    return figures.every((figure) => figure !== null) ? parts.of(figures) : null
  })
  if (!values.every((value) => value !== null)) return null
  const reported = launches[0]!.metrics[parts.from[0]!]!.unit
  if (reported === '' && conversions[unit]) return null
  const result = aggregate(launches, values, how)
  if ('reason' in result) return null
  return {
    value: result.value * (conversions[unit]?.[reported] ?? 1),
    unit,
    evidence: 'derived',
    reason: message('figures.fromParts', { names: parts.from.join(', ') }),
  }
}

/**
 * Returns every metric at the profile level, by registry id.
 *
 * `asked` lists the metrics requested from ncu, if known. If an older run did not request a metric,
 * the reason for the metric's absence does not blame the GPU.
 *
 * At the deep level, `instructions` contains the launches' instructions.
 */
export function toMetrics(
  launches: readonly NcuLaunch[],
  level: ProfileLevel,
  wanted?: ReadonlySet<string>,
  instructions: readonly Counted[] = [],
): Record<string, MetricValue> {
  const reported = (name: string): boolean => launches.some(({ metrics }) => metrics[name])
  const counted = metricsAtLevel(level).filter(
    ({ derived, perInstruction }) => !derived && !perInstruction,
  )
  return withDerived(level, {
    ...instructionFigures(level, instructions),
    ...Object.fromEntries(
      counted.map((definition) => [
        definition.id,
        launches.length > 0 &&
        wanted &&
        !definition.ncu.some((name) => wanted.has(name) || reported(name))
          ? notAsked(definition)
          : toMetric(launches, definition),
      ]),
    ),
  })
}
