/**
 * Describes the origin of a session's figures as named facts, with the command that reproduces
 * them. Pure.
 */
import { message, type Statement } from '../messages/message'
import { reproduceCommand } from '../session/commands'
import { isOfPrograms, type Session } from '../session/session'
import type { templates } from '../messages/english/index'
import { inEnglish } from '../text/english'
import { named, optionsLabel, optionsWord, problemLabel } from '../task/problem'
import { can, gpuOfTarget } from '../targets/targets'
import { formatBytes } from '../metrics/units'
import { sessionGpuWords, gpuModeWords } from './gpu-state-words'

interface Fact {
  /**
   * Machine-readable name, used as the fact's column name in a wide CSV and as the key of the
   * fact's label in the messages.
   */
  id: keyof (typeof templates)['fact']
  value: Statement
  /** Whether to format the value as code, if the output format supports it. */
  code?: true
}

const unknown = message('provenance.unknown')

/** Returns the session's kinds of timing. */
function timingWords(session: Session): Statement {
  const timings = session.rungs.flatMap(({ timing }) => timing ?? [])
  if (timings.length === 0) return unknown
  if (isOfPrograms(session)) return message('provenance.processes')
  const ways = timings.find((timing) => timing.burst ?? timing.sustained) ?? timings[0]!
  const { burst, sustained } = ways
  return [
    message('provenance.singleLaunches'),
    ...(burst
      ? [message('provenance.bursts', { launches: burst.launches, seconds: burst.restSeconds })]
      : []),
    ...(sustained ? [message('provenance.sustained', { seconds: sustained.seconds })] : []),
  ].reduceRight((rest, part) => message('checks.and', { part, rest }))
}

function clockWords({ rungs, device }: Session): Statement {
  const range = (which: 'smClockBeforeMHz' | 'smClockAfterMHz'): Statement => {
    const clocks = rungs.flatMap(({ timing }) => timing?.[which] ?? [])
    if (clocks.length === 0) return unknown
    const [low, high] = [Math.min(...clocks), Math.max(...clocks)]
    return low === high
      ? message('provenance.clock', { clock: low })
      : message('provenance.clockRange', { low, high })
  }
  const most = device?.smClockMaxMHz ?? null
  const sides = { before: range('smClockBeforeMHz'), after: range('smClockAfterMHz') }
  return most === null
    ? message('provenance.clocks', sides)
    : message('provenance.clocksAtMost', { ...sides, most })
}

function gpuWords({ device }: Session): Statement {
  if (!device) return message('provenance.none')
  const { name, computeCapability, smCount } = device
  return message('provenance.gpu', {
    name,
    computeCapability,
    smCount,
    memory: formatBytes(device.memoryTotalBytes),
    l2: formatBytes(device.l2Bytes),
  })
}

function profilerWords({ tools, settings, rungs }: Session): Statement {
  if (tools.ncu === null || settings.profile === 'none') return message('provenance.notUsed')
  const passes = Math.max(0, ...rungs.map(({ profile }) => profile?.passes ?? 0))
  return message('provenance.profiler', {
    ncu: tools.ncu,
    level: settings.profile,
    passes,
    clock: settings.clockControl ?? unknown,
    cache: settings.cacheControl ?? unknown,
  })
}

/** Returns one line that describes the computed problem. */
export function problemWords(session: Session): Statement {
  const { problem, ladder } = session
  if (!problem) return unknown
  const rest = [named(problem.scalars), optionsWord(problem)].filter(Boolean).join(', ')
  const label = problemLabel(problem)
  const values = {
    what: ladder.task?.formula ?? ladder.task?.title ?? ladder.title,
    // If the problem has only one size, the label already includes the size's name.
    problem:
      Object.keys(problem.sizes).length === 1
        ? label
        : message('provenance.sizes', { label, sizes: named(problem.sizes) }),
  }
  return rest === ''
    ? message('provenance.problemAlone', values)
    : message('provenance.problem', { ...values, rest })
}

const originWords = ({ target }: Session): Statement =>
  message(`origin.${target.kind}`, { name: gpuOfTarget(target)?.name ?? target.name })

/** Returns a short description of a session for a heading. */
export function headline(session: Session): Statement {
  const { problem, ladder } = session
  if (!problem) return ladder.title
  const options = optionsLabel(problem)
  const values = { ladder: ladder.title, problem: problemLabel(problem) }
  return options === ''
    ? message('provenance.headlineAlone', values)
    : message('provenance.headline', { ...values, options })
}

/**
 * Returns a session's provenance facts. Single-session reports and comparison reports use these
 * facts.
 */
export function provenance(session: Session): Fact[] {
  const { device, tools, settings, ladder } = session
  // Imports contain only the data that ncu saved, so build and run details are unknown.
  const ofRun = (value: Statement): Statement => (can(session.target).knowsRun ? value : unknown)
  const seconds = session.elapsedSeconds.toFixed(1)
  return [
    { id: 'session', value: session.id },
    { id: 'origin', value: originWords(session) },
    { id: 'date', value: session.createdAt },
    {
      id: 'ladder',
      value:
        ladder.folder === undefined
          ? message('provenance.ladder', { id: ladder.id, title: ladder.title })
          : message('provenance.ladderFolder', {
              id: ladder.id,
              title: ladder.title,
              folder: ladder.folder,
            }),
    },
    { id: 'problem', value: problemWords(session) },
    { id: 'seed', value: ofRun(`${settings.seed}`) },
    { id: 'gpu', value: gpuWords(session) },
    { id: 'driver', value: device?.driver ?? unknown },
    { id: 'cuda', value: device?.cudaDriver ?? unknown },
    { id: 'gpuModes', value: gpuModeWords(device) ?? unknown },
    {
      id: 'timing',
      value: timingWords(session),
    },
    { id: 'smClock', value: clockWords(session) },
    { id: 'gpuState', value: sessionGpuWords(session) ?? unknown },
    {
      id: 'cacheState',
      value: settings.cacheState ? message(`cacheState.${settings.cacheState}`) : unknown,
    },
    { id: 'nvcc', value: tools.nvcc ?? unknown },
    { id: 'nvccFlags', value: settings.nvccFlags.join(' ') || unknown, code: true },
    { id: 'ncu', value: profilerWords(session) },
    { id: 'appVersion', value: session.appVersion },
    { id: 'completion', value: ofRun(message(`provenance.${session.completion}`, { seconds })) },
    { id: 'reproduce', value: reproduceCommand(session), code: true },
  ]
}

/** A fact as text for reports. */
export interface PrintedFact {
  id: string
  label: string
  value: string
  code?: true
}

export const printedProvenance = (session: Session): PrintedFact[] =>
  provenance(session).map(({ id, value, code }) => ({
    id,
    label: inEnglish(message(`fact.${id}`)),
    value: inEnglish(value),
    ...(code ? { code } : {}),
  }))
