/** Where a session's figures come from, as facts with a name, and the command that makes them again. Pure. */
import { problemLabel } from './problem'
import { problemOf, type Session } from './session'
import { formatBytes } from './units'

export interface Fact {
  /** A name for machines: the column of a wide CSV. */
  id: string
  label: string
  value: string
  /** Set as code where a format can. */
  code?: true
}

const unknown = 'unknown'

const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/

const quoted = (word: string): string =>
  plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/**
 * Parameters that differ from a header's default. `--param` reaches every rung that declares the name
 * and allows the value, so one is named only where it would change nothing else.
 */
function parameterWords({ ladder }: Session): string[] {
  const names = new Set(ladder.rungs.flatMap(({ params }) => Object.keys(params)))
  return [...names].flatMap((name) => {
    const holders = ladder.rungs.flatMap(({ params, header }) => {
      const declared = header.params.find((parameter) => parameter.name === name)
      return declared ? [{ value: params[name], declared }] : []
    })
    const changed = holders.find(({ value, declared }) => value !== declared.default)
    if (changed?.value === undefined) return []
    const { value } = changed
    const agrees = holders.every(
      (holder) => holder.value === value || !holder.declared.allowed.includes(value),
    )
    return agrees ? ['--param', `${name}=${value}`] : []
  })
}

/** The command that makes this again: a run on such a GPU, or the import of the same file. */
export function reproduceCommand(session: Session): string {
  if (session.target.kind === 'imported')
    return ['kernel-ladder', 'import', session.target.name].map(quoted).join(' ')
  const { ladder, problem, settings } = session
  const { m, n, k, alpha, beta } = problem
  const words = [
    'kernel-ladder',
    'run',
    '--ladder',
    ladder.id,
    // By name, so that the same rungs run when the ladder has grown since.
    '--rungs',
    session.rungs.map(({ id }) => id).join(','),
    ...(m === n && n === k ? ['--size', `${m}`] : ['--m', `${m}`, '--n', `${n}`, '--k', `${k}`]),
    ...(alpha === ladder.alpha ? [] : ['--alpha', `${alpha}`]),
    ...(beta === ladder.beta ? [] : ['--beta', `${beta}`]),
    ...parameterWords(session),
    ...(session.target.kind === 'static'
      ? ['--target', `static:${session.target.name}`]
      : ['--profile', settings.profile]),
    ...(settings.flushL2 ? ['--flush-l2'] : []),
  ]
  return words.map(quoted).join(' ')
}

function clockWords({ rungs, device }: Session): string {
  const range = (which: 'smClockBeforeMHz' | 'smClockAfterMHz'): string => {
    const clocks = rungs.flatMap(({ timing }) => timing?.[which] ?? [])
    if (clocks.length === 0) return unknown
    const [low, high] = [Math.min(...clocks), Math.max(...clocks)]
    return low === high ? `${low} MHz` : `${low} to ${high} MHz`
  }
  const most = device?.smClockMaxMHz ?? null
  const limit = most === null ? '' : `, at most ${most} MHz`
  return `before ${range('smClockBeforeMHz')}, after ${range('smClockAfterMHz')}${limit}`
}

function gpuWords({ device }: Session): string {
  if (!device) return 'none'
  const { name, computeCapability, smCount, memoryTotalBytes, l2Bytes } = device
  return `${name}, compute capability ${computeCapability}, ${smCount} SMs, ${formatBytes(memoryTotalBytes)} memory, ${formatBytes(l2Bytes)} L2`
}

function profilerWords({ tools, settings, rungs }: Session): string {
  if (tools.ncu === null || settings.profile === 'none') return 'not used'
  const passes = Math.max(0, ...rungs.map(({ profile }) => profile?.passes ?? 0))
  return `${tools.ncu}, level ${settings.profile}, up to ${passes} ${passes === 1 ? 'pass' : 'passes'} a kernel, clock control ${settings.clockControl ?? unknown}, cache control ${settings.cacheControl ?? unknown}`
}

function problemWords(session: Session): string {
  const problem = problemOf(session)
  if (!problem) return unknown
  const { m, n, k, alpha, beta, dtype } = problem
  return `C = alpha A B + beta C, ${problemLabel(problem)} (m ${m}, n ${n}, k ${k}), alpha ${alpha}, beta ${beta}, ${dtype}`
}

function originWords({ target }: Session): string {
  switch (target.kind) {
    case 'live':
      return 'measured live'
    case 'recorded':
      return `replayed from the recording ${target.name}`
    case 'imported':
      return `imported from ${target.name}`
    case 'static':
      return `built for ${target.name} without a GPU, and not run`
  }
}

/** A session in a few words, for a heading. */
export function headline(session: Session): string {
  const problem = problemOf(session)
  const size = problem ? ` at ${problemLabel(problem)} ${problem.dtype}` : ''
  return `${session.ladder.title}${size}`
}

/** Shared by a report on one session and a comparison of two, which sets them side by side. */
export function provenance(session: Session): Fact[] {
  const { device, tools, settings, ladder } = session
  // An import holds what ncu kept; what it was compiled and run with is not in there.
  const ofRun = (value: string): string => (session.target.kind === 'imported' ? unknown : value)
  return [
    { id: 'session', label: 'Session', value: session.id },
    { id: 'origin', label: 'Origin', value: originWords(session) },
    { id: 'date', label: 'Measured on', value: session.createdAt },
    { id: 'ladder', label: 'Ladder', value: `${ladder.id} (${ladder.title})` },
    { id: 'problem', label: 'Problem', value: problemWords(session) },
    { id: 'seed', label: 'Seed of the inputs', value: ofRun(`${settings.seed}`) },
    { id: 'gpu', label: 'GPU', value: gpuWords(session) },
    { id: 'driver', label: 'Driver', value: device?.driver ?? unknown },
    { id: 'cuda', label: 'CUDA of the driver', value: device?.cudaDriver ?? unknown },
    { id: 'smClock', label: 'SM clock while timing', value: clockWords(session) },
    {
      id: 'l2Flush',
      label: 'L2 between samples',
      value: ofRun(settings.flushL2 ? 'flushed' : 'kept'),
    },
    { id: 'nvcc', label: 'nvcc', value: tools.nvcc ?? unknown },
    {
      id: 'nvccFlags',
      label: 'nvcc flags',
      value: settings.nvccFlags.join(' ') || unknown,
      code: true,
    },
    { id: 'ncu', label: 'ncu', value: profilerWords(session) },
    { id: 'appVersion', label: 'Kernel Ladder', value: session.appVersion },
    {
      id: 'completion',
      label: 'The run',
      value: ofRun(`${session.completion}, ${session.elapsedSeconds.toFixed(1)} s`),
    },
    { id: 'reproduce', label: 'To reproduce', value: reproduceCommand(session), code: true },
  ]
}
