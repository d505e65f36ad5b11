/**
 * Completes a rung's metrics. Computes derived metrics, and marks metrics as unavailable if an
 * older session lacks them. Pure.
 */
import { message, says, type Statement } from '../messages/message'
import type { MetricDefinition, ProfileLevel } from '../metrics/metric-definition'
import { metricsAtLevel, unavailable, type MetricValue, metricDefinition } from '../metrics/metrics'
import { opcodeFamily, type DeepProfile, type Instruction } from './deep'
import type { RungResult, Session } from './session'
import { can } from '../targets/targets'

type Figures = Readonly<Record<string, MetricValue>>

function derive({ unit, derived }: MetricDefinition, figures: Figures): MetricValue {
  const { from, of, how } = derived!
  const missing = from.find((id) => figures[id]?.value == null)
  if (missing !== undefined) {
    const why = figures[missing]?.reason ?? message('records.noKernelProfiled')
    return unavailable(unit, message('figures.follows', { metric: { metric: missing }, why }))
  }
  const value = of(Object.fromEntries(from.map((id) => [id, figures[id]!.value!])))
  return value === null
    ? unavailable(unit, message('figures.noShare'))
    : { value, unit, evidence: 'derived', reason: message(how) }
}

/** Returns the metrics with the level's derived metrics added. Existing values are kept. */
export const withDerived = (
  level: ProfileLevel,
  figures: Figures,
): Record<string, MetricValue> => ({
  ...figures,
  ...Object.fromEntries(
    metricsAtLevel(level).flatMap((definition) =>
      definition.derived && !figures[definition.id]
        ? [[definition.id, derive(definition, figures)]]
        : [],
    ),
  ),
})

/** Returns an unavailable value for a metric that was not requested from ncu. */
export const notAsked = ({ unit, ncu, perInstruction }: MetricDefinition): MetricValue =>
  unavailable(
    unit,
    perInstruction
      ? message('figures.noInstructions')
      : message('records.notAsked', { names: ncu.join(' or ') }),
  )

/** Instruction fields from which the summed metrics are computed. */
export type Counted = Pick<Instruction, 'opcode' | 'executed' | 'sharedWavefrontsExcess'>

/**
 * Returns the level's metrics that are sums over instructions. The metrics are unavailable if the
 * instructions have no counters.
 */
export function instructionFigures(
  level: ProfileLevel,
  instructions: readonly Counted[],
): Record<string, MetricValue> {
  return Object.fromEntries(
    metricsAtLevel(level).flatMap((definition) => {
      const { id, unit, perInstruction } = definition
      if (!perInstruction) return []
      const { figure, of } = perInstruction
      const own = instructions.filter(
        ({ opcode, executed }) => executed !== 0 && of.includes(opcodeFamily(opcode)),
      )
      const counted =
        instructions.some(({ executed }) => executed !== null) &&
        own.every((instruction) => instruction[figure] !== null)
      const value = own.reduce((sum, instruction) => sum + (instruction[figure] ?? 0), 0)
      return [
        [
          id,
          counted
            ? {
                value,
                unit,
                evidence: 'derived',
                reason: message('figures.overInstructions', { opcodes: of.join(', ') }),
              }
            : notAsked(definition),
        ],
      ]
    }),
  )
}

/**
 * Returns the instructions of all of a rung's kernels. Returns an empty list if any kernel has no
 * instruction list, because a partial sum would be too low.
 */
export const listedInAll = <T>(kernels: readonly (readonly T[])[]): readonly T[] =>
  kernels.every(({ length }) => length > 0) ? kernels.flat() : []

export const instructionsOf = (profile: DeepProfile | null | undefined): readonly Instruction[] =>
  listedInAll(profile?.kernels.map(({ instructions }) => instructions) ?? [])

const lacksSums = ({ metrics }: RungResult): boolean =>
  Object.values(metrics).some(({ reason }) => says(reason, 'figures.noInstructions'))

/**
 * Returns the rungs of an older deep session that lack sums over instructions. The sums can be
 * computed from the rungs' deep profiles.
 */
export const rungsWithoutSums = ({ settings, rungs }: Session): RungResult[] =>
  settings.profile === 'deep' ? rungs.filter((rung) => rung.profile && lacksSums(rung)) : []

/** Returns a rung with metrics summed from its deep profile. */
export function withSums(rung: RungResult, profile: DeepProfile | null): RungResult {
  const sums = instructionFigures('deep', instructionsOf(profile))
  const follows = metricsAtLevel('deep').filter(({ derived }) =>
    derived?.from.some((id) => sums[id]),
  )
  const kept = Object.entries(rung.metrics).filter(([id]) => !follows.some((one) => one.id === id))
  return { ...rung, metrics: withDerived('deep', { ...Object.fromEntries(kept), ...sums }) }
}

/**
 * Returns the specific reason why an unprofiled rung has no counters. Only time-dependent metrics
 * contain this reason, because they always require the profiler.
 */
const whyNone = ({ target }: Session, { profile, metrics }: RungResult): Statement | undefined =>
  profile === null && can(target).times
    ? Object.entries(metrics).find(
        ([id, { evidence }]) =>
          evidence === 'unavailable' && metricDefinition(id)?.kind === 'dynamic',
      )?.[1].reason
    : undefined

/**
 * Returns an unavailable value for a metric that the session's version of the emulator did not
 * count.
 */
const notCollected = ({ unit }: MetricDefinition): MetricValue =>
  unavailable(unit, message('records.notCollected'))

/**
 * Metrics that may have been added to a profile level after a session was recorded. The card level
 * is omitted, because its metrics have never changed.
 */
const added = (level: ProfileLevel): MetricDefinition[] =>
  metricsAtLevel(level).filter((metric) => metric.level !== 'card')

function complete(session: Session, rung: RungResult): Record<string, MetricValue> {
  const level = session.settings.profile
  const { metrics } = rung
  const why = whyNone(session, rung)
  const missing = added(level).filter(({ id }) => !metrics[id])
  if (why !== undefined)
    return {
      ...metrics,
      ...Object.fromEntries(missing.map(({ id, unit }) => [id, unavailable(unit, why)])),
    }
  const lacking = can(session.target).times ? notAsked : notCollected
  const counted = missing.filter(({ derived }) => !derived)
  return withDerived(level, {
    ...metrics,
    ...Object.fromEntries(counted.map((definition) => [definition.id, lacking(definition)])),
  })
}

/**
 * Returns a session with every metric of its level. Returns imports unchanged, because they have no
 * profile level.
 */
export function withRegistry(session: Session): Session {
  const { target, settings } = session
  if (!can(target).knowsRun || settings.profile === 'none') return session
  const whole = added(settings.profile)
  const lacks = ({ metrics }: RungResult): boolean =>
    Object.keys(metrics).length > 0 && whole.some(({ id }) => !metrics[id])
  if (!session.rungs.some(lacks)) return session
  return {
    ...session,
    rungs: session.rungs.map((rung) =>
      lacks(rung) ? { ...rung, metrics: complete(session, rung) } : rung,
    ),
  }
}
