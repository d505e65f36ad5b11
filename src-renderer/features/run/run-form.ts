/** The run form's choices, and the request built from them. */
import type { SessionSummary, CallInput } from '../../../src-main/contract/index'
import type { ProfileLevel } from '../../../src-main/domain/metrics/metric-definition'
import { type Sizes, sizesLabel, usualProblem } from '../../../src-main/domain/task/problem'
import type { TimingWay } from '../../../src-main/domain/session/session'
import type { Ladder, LadderRung } from '../../../src-main/domain/ladder/ladder'
import { maxSize, sizeNames } from '../../../src-main/domain/task/task'
import type { Capabilities } from '../../../src-main/domain/targets/kinds'
import {
  can,
  parseTarget,
  printTarget,
  runnableKinds,
  type RunnableKind,
} from '../../../src-main/domain/targets/targets'
import { emulatedProblem } from '../../../src-main/domain/emulation/emulated-problem'
import { isRecording } from '../../../src-main/domain/session/session-summary'

/** Parses seconds. Returns null if the text is invalid. */
export function parseSeconds(text: string): number | null {
  const value = /^\s*\d{1,6}([.,]\d{1,3})?\s*$/.test(text) ? Number(text.replace(',', '.')) : NaN
  return value > 0 ? value : null
}

export const customSize = 'custom'

/**
 * The GPU on which the built-in recordings were made. A build for this GPU can be compared with the
 * recordings.
 */
const usualGpu = 'h200'

export interface RunForm {
  /** The ladder as written in a request: the id of a built-in ladder, or a folder. */
  ladder: string
  /** The chosen rungs. The reference always runs too. */
  rungs: string[]
  /** A size's label, or `custom`. */
  size: string
  /** The task's size parameters by name, as the user typed them. */
  custom: Record<string, string>
  /** The task's scalars and options by name. If a value is empty, the ladder's value is used. */
  values: Record<string, string>
  /** Parameter values by parameter name. If a value is empty, each rung uses its default. */
  params: Record<string, string>
  /** The target in the form that requests use, empty if there is no target to choose. */
  target: string
  profile: ProfileLevel
  /**
   * Rungs whose expected profiling time exceeds this many seconds are not profiled. The text is as
   * the user typed it. An empty string sets no limit.
   */
  profileLimit: string
  /** The timing modes to use in addition to single launches. */
  timing: TimingWay
  /** L2 cache state when a launch is timed. */
  cacheState: 'cold' | 'warm'
}

export const optionalRungs = (ladder: Ladder): LadderRung[] =>
  ladder.rungs.filter(({ id }) => id !== ladder.reference)

export const freshForm = (ladder: Ladder, target: string, name = ladder.id): RunForm => ({
  ladder: name,
  rungs: optionalRungs(ladder).map(({ id }) => id),
  size: sizesLabel(ladder.sizes[0]!),
  custom: Object.fromEntries((ladder.task ? sizeNames(ladder.task) : []).map((name) => [name, ''])),
  values: {},
  params: {},
  target,
  profile: 'card',
  profileLimit: '',
  timing: 'single',
  cacheState: 'cold',
})

/** Returns the chosen target's capabilities. Returns null if no target is chosen. */
export const abilities = ({ target }: Pick<RunForm, 'target'>): Capabilities | null => {
  const parsed = parseTarget(target)
  return parsed && can(parsed)
}

/** Returns whether the target can time launches. */
export const canTime = (form: Pick<RunForm, 'target'>): boolean => {
  const able = abilities(form)
  return able !== null && able.times && !able.replays
}

/**
 * Returns whether the target is an emulator. An emulator measures no times and is fast only at
 * small sizes.
 */
export const isEmulated = ({ target }: Pick<RunForm, 'target'>): boolean => {
  const able = abilities({ target })
  return able !== null && able.runs && !able.times && !able.predicts && !able.replays
}

/**
 * Returns the default size for the target: the ladder's first size, or a size that an emulator runs
 * in seconds.
 */
export function usualSize(
  ladder: Ladder,
  form: Pick<RunForm, 'target'>,
): Pick<RunForm, 'size' | 'custom'> {
  const { size, custom } = freshForm(ladder, '')
  const { task } = ladder
  if (!isEmulated(form) || !task) return { size, custom }
  const { sizes } = emulatedProblem(task, usualProblem(task, ladder.sizes[0]!))
  return {
    size: customSize,
    custom: Object.fromEntries(Object.entries(sizes).map(([name, one]) => [name, String(one)])),
  }
}

/** A target that the user can choose, with its text in a request and its kind. */
export interface TargetChoice {
  kind: RunnableKind
  value: string
  /** The recording that the target replays. */
  recording?: SessionSummary
}

/** Returns the currently chosen GPU if it is of this kind. Otherwise returns the default GPU. */
const gpuChoice = (kind: RunnableKind, chosen: string): string =>
  parseTarget(chosen)?.kind === kind ? chosen : printTarget({ kind, name: usualGpu })

/** Returns one target per kind and one per recording of this ladder. */
export const targetChoices = (
  sessions: readonly SessionSummary[],
  { ladder, target }: Pick<RunForm, 'ladder' | 'target'>,
  machines: readonly string[] = [],
): TargetChoice[] =>
  runnableKinds.flatMap(({ kind, syntax }): TargetChoice[] => {
    switch (syntax.names) {
      case 'recordings':
        return recordingsOf(sessions, ladder).map((recording) => ({
          kind,
          value: recording.ref,
          recording,
        }))
      case 'machines':
        return machines.map((name) => ({ kind, value: printTarget({ kind, name }) }))
      case 'gpus':
        return [{ kind, value: gpuChoice(kind, target) }]
      case null:
        return [{ kind, value: printTarget({ kind, name: null }) }]
    }
  })

/** Returns whether this machine has everything that the target kind needs. */
export const isOffered = (
  kind: RunnableKind,
  { hasGpu, hasCompiler }: { hasGpu: boolean; hasCompiler: boolean },
): boolean => {
  const { needsGpu, elsewhere, replays }: Capabilities = can({ kind })
  return needsGpu ? hasGpu : elsewhere === true || replays || hasCompiler
}

/** Returns this ladder's recordings. */
const recordingsOf = (sessions: readonly SessionSummary[], ladder: string): SessionSummary[] =>
  sessions.filter(
    (session) => isRecording(session) && session.ladder.id === ladder && !session.damaged,
  )

/** Returns the recording to offer first. A recording at the ladder's first size is preferred. */
export function firstRecording(
  sessions: readonly SessionSummary[],
  ladder: Ladder,
): SessionSummary | undefined {
  const found = recordingsOf(sessions, ladder.id)
  const label = sizesLabel(ladder.sizes[0]!)
  return found.find(({ problem }) => problem && sizesLabel(problem.sizes) === label) ?? found[0]
}

/** Parses an extent. Returns null if the text is not a whole number that fits into a grid. */
export function parseExtent(text: string, max = maxSize): number | null {
  if (!/^\d{1,16}$/.test(text.trim())) return null
  const value = Number(text)
  return value >= 1 && value <= max ? value : null
}

/** Parses sizes. Returns null if the task rejects one of the sizes. */
export function parseSizes(
  { task }: Ladder,
  typed: Readonly<Record<string, string>>,
): Sizes | null {
  const sizes = Object.entries(task?.sizes ?? {}).flatMap(([name, { max }]) => {
    const size = parseExtent(typed[name] ?? '', max)
    return size === null ? [] : [[name, size] as const]
  })
  return task && sizes.length === sizeNames(task).length ? Object.fromEntries(sizes) : null
}

export function sizeOf(form: RunForm, ladder: Ladder): Sizes | null {
  if (form.size !== customSize)
    return ladder.sizes.find((size) => sizesLabel(size) === form.size) ?? null
  return parseSizes(ladder, form.custom)
}

/**
 * Returns the choices of an option that at least one rung accepts. If no rung restricts the option,
 * returns all choices.
 */
export function optionChoices({ task, rungs }: Ladder, option: string): string[] {
  const taken = new Set(rungs.flatMap(({ header }) => header.options[option] ?? []))
  const all = Object.keys(task?.options[option]?.choices ?? {})
  return taken.size === 0 ? all : all.filter((choice) => taken.has(choice))
}

/** Parses a scalar. Returns null if the text is not a number of the given type. */
export function parseScalar(text: string, dtype: string): number | null {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return null
  return dtype.startsWith('i') && !Number.isInteger(value) ? null : value
}

/** Returns the requested scalars and options. Returns null if any value is invalid. */
function parseValues(
  { task }: Ladder,
  values: Readonly<Record<string, string>>,
): Record<string, number | string> | null {
  const found: Record<string, number | string> = {}
  for (const [name, text] of Object.entries(values)) {
    const scalar = task?.scalars[name]
    if (text === '' || (!scalar && !task?.options[name])) continue
    const value = scalar ? parseScalar(text, scalar.dtype) : text
    if (value === null) return null
    found[name] = value
  }
  return found
}

export interface ParameterChoice {
  name: string
  /**
   * Values that at least one chosen rung allows. Rungs that do not allow the selected value keep
   * their defaults.
   */
  allowed: number[]
  rungs: string[]
}

export function parameterChoices(ladder: Ladder, chosen: readonly string[]): ParameterChoice[] {
  const choices = new Map<string, ParameterChoice>()
  for (const rung of ladder.rungs.filter(({ id }) => chosen.includes(id))) {
    for (const { name, allowed } of rung.header.params) {
      const known = choices.get(name)
      if (known) {
        known.allowed = [...new Set([...known.allowed, ...allowed])].sort((x, y) => x - y)
        known.rungs.push(rung.title)
      } else choices.set(name, { name, allowed: [...allowed], rungs: [rung.title] })
    }
  }
  return [...choices.values()]
}

type FormFault = 'noRungs' | 'badSize' | 'badValue' | 'noTarget'

export function formFault(form: RunForm, ladder: Ladder): FormFault | null {
  if (!form.target) return 'noTarget'
  if (form.rungs.length === 0) return 'noRungs'
  if (abilities(form)?.replays) return null
  if (!sizeOf(form, ladder)) return 'badSize'
  if (!parseValues(ladder, form.values)) return 'badValue'
  return null
}

/**
 * Returns the run request. A replay has no size or parameters, because the recording fixes both.
 */
export function runRequest(form: RunForm, ladder: Ladder): CallInput<'run.start'> {
  // Request the reference explicitly, so that it also becomes a row of the session.
  const rungs = ladder.rungs
    .map(({ id }) => id)
    .filter((id) => id === ladder.reference || form.rungs.includes(id))
  const profile = abilities(form)?.profiles ? form.profile : 'none'
  const base = {
    ladder: form.ladder,
    target: form.target,
    profile,
    ...(rungs.length === ladder.rungs.length ? {} : { rungs }),
  }
  if (abilities(form)?.replays) return base
  const offered = new Map(
    parameterChoices(ladder, rungs).map(({ name, allowed }) => [name, allowed]),
  )
  const params = Object.entries(form.params).filter(
    ([name, value]) => value !== '' && offered.get(name)?.includes(Number(value)),
  )
  const size = sizeOf(form, ladder)
  const limit = profile === 'none' ? null : parseSeconds(form.profileLimit)
  return {
    ...base,
    ...(limit === null ? {} : { profileLimitSeconds: limit }),
    ...(form.timing !== 'single' && canTime(form) ? { timing: form.timing } : {}),
    ...(form.cacheState !== 'cold' && canTime(form) ? { cacheState: form.cacheState } : {}),
    ...(size ? { at: { ...size, ...parseValues(ladder, form.values) } } : {}),
    params: Object.fromEntries(params.map(([name, value]) => [name, Number(value)])),
  }
}
