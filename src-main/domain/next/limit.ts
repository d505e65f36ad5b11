/** Describes what limits a rung: a unit at its limit, or latency. */
import { message, type AnyMessage, type Statement } from '../messages/message'
import { leadFigure, leadOf } from '../analysis/lead-figure'
import { formatPercent, formatValue } from '../metrics/units'
import { isEmulated } from '../targets/targets'
import type { Side } from '../why/side'
import { units, type UnitId } from '../why/units'
import { fullness, recordOf, type Fullness } from './bound'
import type { RungResult, Session } from '../session/session'
import { factsOf, type Facts } from './facts'
import { timeOfRung } from './time-of-rung'

/** Thresholds as fractions of the unit's highest recorded utilization. */
const atLimit = 0.93
const nearLimit = 0.8

/** The recommendation for each unit that is at its limit. */
const remedies: Readonly<Record<UnitId, AnyMessage>> = {
  dram: message('next.fewerBytes'),
  l2: message('next.fewerBytes'),
  l1Data: message('next.fewerAccesses'),
  lsu: message('next.fewerAccesses'),
  fma: message('next.lessArithmetic'),
  tensor: message('next.lessArithmetic'),
  issue: message('next.fewerSlots'),
}

/**
 * Returns the utilization over the whole launch. The unit's counter may cover only cycles in which
 * an SM has a block. If the counter's value differs, the text also includes that value, because
 * tables show it.
 */
function utilizationWords({ busy, value }: Facts, unit: UnitId, share = 0): Statement {
  const launch = formatPercent(100 * (busy[unit] ?? share))
  const counter = value(units[unit].busy)
  if (units[unit].of === 'elapsed' || counter === null) return launch
  const active = formatPercent(Math.min(100, counter))
  return active === launch ? launch : message('next.ofLaunch', { launch, active })
}

/**
 * Returns the rung's utilization and the highest recorded utilization, if that is higher. For DRAM
 * in tasks with a known byte count, returns the share of the measured bandwidth instead.
 */
function busyWords(facts: Facts, { unit, share }: Fullness): Statement {
  const { session, rung } = facts.side
  if (unit === 'dram' && leadOf(session).of === 'bytes') {
    const figure = leadFigure(session, rung)
    const roof = leadOf(session).roof.value.value
    if (figure?.share != null && roof !== null)
      return message('next.ofBandwidth', {
        share: formatPercent(figure.share),
        bandwidth: formatValue(roof, 'GB/s'),
      })
  }
  const busy = utilizationWords(facts, unit, share)
  const record = recordOf(unit)
  return (facts.busy[unit] ?? share) >= record - 0.001
    ? busy
    : message('next.belowRecord', { busy, record: formatPercent(100 * record) })
}

/**
 * Maximum difference in utilization at which units are treated as equally busy. Among equally busy
 * units, the text names the unit that does the task's main work.
 */
const equal = 0.05

function fullest(facts: Facts): Fullness | undefined {
  const all = fullness(facts)
  const own = all.find(({ unit }) => unit === 'dram')
  const isOwn = facts.boundBy === 'bytes' && own && own.share >= all[0]!.share - equal
  return isOwn ? own : all[0]
}

export function limitOf(facts: Facts): AnyMessage {
  const first = fullest(facts)
  if (facts.spread < 0.9 && (!first || first.share < nearLimit))
    return message('next.idleSms', { share: formatPercent(100 * facts.spread) })
  if (!first || first.share < nearLimit)
    return facts.waits === null || !first
      ? message('next.unknownLimit')
      : message('next.byLatency', {
          unit: message(`unitWithin.${first.unit}`),
          busy: utilizationWords(facts, first.unit),
        })
  const values = {
    unit: message(`unitWithin.${first.unit}`),
    busy: busyWords(facts, first) as AnyMessage,
  }
  return first.share >= atLimit
    ? message('next.atLimit', { ...values, remedy: remedies[first.unit] })
    : message('next.nearLimit', values)
}

/** Returns why a rung has no recommendations, or null if recommendations are possible. */
export function obstacleOf(side: Side, facts: Facts | null): Statement | null {
  const { session, rung } = side
  if (rung.status !== 'ok')
    return message('next.notOk', { status: message(`status.${rung.status}`) })
  if (rung.program !== undefined) return message('next.wholeProgram')
  if (isEmulated(session.target) && timeOfRung(rung) === null) return message('next.emulated')
  if (timeOfRung(rung) === null) return message('next.noTime')
  const counted = Object.values(rung.metrics).some(({ value }) => value !== null)
  if (!counted) return message('next.noCounters')
  if (facts === null) return message('next.contradiction')
  if (facts.waits === null && facts.busy.dram === undefined) return message('next.cardOnly')
  return null
}

/**
 * Returns whether a rung can have recommendations. The reference has no recommendations, because it
 * is library code.
 */
export const isAdvisable = (session: Session, rung: RungResult): boolean => {
  const side = { session, rung }
  return rung.id !== session.ladder.reference && obstacleOf(side, factsOf(side)) === null
}
