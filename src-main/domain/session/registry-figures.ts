/**
 * Completes a rung's figures: derived metrics are computed, and metrics that a session lacks because it predates
 * them in the registry are marked as missing. Pure.
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

/** Adds the derived metrics of the level; existing values are kept. */
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

/** The value of a metric that was not requested from ncu. */
export const notAsked = ({ unit, ncu, perInstruction }: MetricDefinition): MetricValue =>
  unavailable(
    unit,
    perInstruction
      ? message('figures.noInstructions')
      : message('records.notAsked', { names: ncu.join(' or ') }),
  )

/** What a sum over instructions needs of each. */
export type Counted = Pick<Instruction, 'opcode' | 'executed' | 'sharedWavefrontsExcess'>

/** Metrics of the level that are sums over instructions; unavailable where those have no counters. */
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

/** Every instruction of a rung's kernels; none where one has no listing, since a sum over the others would be too small. */
export const listedInAll = <T>(kernels: readonly (readonly T[])[]): readonly T[] =>
  kernels.every(({ length }) => length > 0) ? kernels.flat() : []

export const instructionsOf = (profile: DeepProfile | null | undefined): readonly Instruction[] =>
  listedInAll(profile?.kernels.map(({ instructions }) => instructions) ?? [])

const lacksSums = ({ metrics }: RungResult): boolean =>
  Object.values(metrics).some(({ reason }) => says(reason, 'figures.noInstructions'))

/** Rungs of a deep session of before there were sums over instructions: their deep profiles have the counters. */
export const rungsWithoutSums = ({ settings, rungs }: Session): RungResult[] =>
  settings.profile === 'deep' ? rungs.filter((rung) => rung.profile && lacksSums(rung)) : []

/** A rung with the metrics that its deep profile adds up to. */
export function withSums(rung: RungResult, profile: DeepProfile | null): RungResult {
  const sums = instructionFigures('deep', instructionsOf(profile))
  const follows = metricsAtLevel('deep').filter(({ derived }) =>
    derived?.from.some((id) => sums[id]),
  )
  const kept = Object.entries(rung.metrics).filter(([id]) => !follows.some((one) => one.id === id))
  return { ...rung, metrics: withDerived('deep', { ...Object.fromEntries(kept), ...sums }) }
}

/**
 * Why a rung that was not profiled has no counters. Metrics that depend on time come from the profiler alone; the others
 * may lack a value for a reason of their own.
 */
const whyNone = ({ target }: Session, { profile, metrics }: RungResult): Statement | undefined =>
  profile === null && can(target).times
    ? Object.entries(metrics).find(
        ([id, { evidence }]) =>
          evidence === 'unavailable' && metricDefinition(id)?.kind === 'dynamic',
      )?.[1].reason
    : undefined

/** The value of a metric that the emulator of that version did not count. */
const notCollected = ({ unit }: MetricDefinition): MetricValue =>
  unavailable(unit, message('records.notCollected'))

/** Metrics that may have been added to a level later; the card level has never changed. */
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
 * A session with every metric of its level. An import keeps what its file contained, since it requested nothing.
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
