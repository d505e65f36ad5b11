/** Two sessions beside each other, as terminal text. */
import { inEnglish } from '../../../domain/text/text'
import type { SessionComparison } from '../../../domain/programs/compare-sessions'
import { extentText, shortName } from '../../../domain/programs/choose'
import { formatMs, formatRatio, formatBytes, formatValue } from '../../../domain/metrics/units'
import {
  type Session,
  isOfPrograms,
  type Build,
  type RungResult,
} from '../../../domain/session/session'
import { table, type Column } from '../output'
import { describeOrigin, describeSession, describeErrors } from './describe-ladder'
import { launchOccupancy, threadsOf } from '../../../domain/analysis/derived-metrics'
import { can, gpuOfTarget, isBuiltOnly } from '../../../domain/target/targets'
import { describeKernels, describePrograms } from './describe-kernels'

const none = '–'

const msText = (ms: number | null): string => (ms === null ? none : formatMs(ms))
const ratioText = (ratio: number | null): string => (ratio === null ? none : formatRatio(ratio))
const changeText = (ms: number | null): string =>
  ms === null ? none : `${ms < 0 ? '−' : '+'}${formatMs(Math.abs(ms))}`

type Pair = SessionComparison['pairs'][number]
type Only = SessionComparison['onlyA'][number]

function kernelText({ title, kernel }: Pair['sideA']): string {
  if (!kernel) return title
  const shape =
    kernel.grid || kernel.block ? ` ${extentText(kernel.grid)} of ${extentText(kernel.block)}` : ''
  return `${shortName(kernel.name)}${shape}${kernel.range ? ` in ${kernel.range}` : ''}`
}

const briefText = ({ title, kernel }: Pair['sideA']): string =>
  kernel ? shortName(kernel.name, 36) : title

const magnitude = ({ change }: { change: number | null }): number => Math.abs(change ?? 0)

function pairTable(pairs: readonly Pair[]): string {
  const columns: Column<Pair>[] = [
    { header: 'kernel', align: 'left', cell: ({ sideB }) => kernelText(sideB) },
    { header: 'before', cell: ({ timeA }) => msText(timeA) },
    { header: 'after', cell: ({ timeB }) => msText(timeB) },
    { header: 'after/before', cell: ({ ratio }) => ratioText(ratio) },
    { header: 'change', cell: ({ change }) => changeText(change) },
    { header: '', align: 'left', cell: ({ verdict }) => verdict },
    { header: 'paired by', align: 'left', cell: ({ by }) => by.replaceAll('+', ', ') },
    { header: '', align: 'left', cell: ({ a, b }) => (a === b ? a : `${a} = ${b}`) },
  ]
  return table(pairs, columns)
}

/** What happened to the kernels without a counterpart, in sentences. */
function changeLines({ changes, onlyA, onlyB }: SessionComparison): string[] {
  const byId = (list: readonly Only[]): Map<string, Only> =>
    new Map(list.map((one) => [one.id, one]))
  const [left, right] = [byId(onlyA), byId(onlyB)]
  const names = (ids: readonly string[], from: Map<string, Only>): string =>
    ids.map((id) => briefText(from.get(id)!)).join(' + ')
  return [...changes]
    .sort((one, other) => magnitude(other) - magnitude(one))
    .map(({ kind, a, b, timeA, timeB, ratio }) => {
      if (kind === 'added') return `added: ${names(b, right)} (${msText(timeB)})`
      if (kind === 'removed') return `removed: ${names(a, left)} (${msText(timeA)})`
      return `${kind}: ${names(a, left)} (${msText(timeA)}) → ${names(b, right)} (${msText(timeB)}${ratio === null ? '' : `, ${formatRatio(ratio)}`})`
    })
}

export function describeSessions(a: Session, b: Session, comparison: SessionComparison): string {
  const { total, pairs, comparable } = comparison
  const changed = changeLines(comparison)
  return [
    `before: ${describeOrigin(a)}`,
    `after:  ${describeOrigin(b)}`,
    '',
    `total: ${msText(total.timeA)} → ${msText(total.timeB)}${total.ratio === null ? '' : `, ${formatRatio(total.ratio)} of the time before`}`,
    ...(comparable.ok ? [] : ['These figures cannot be compared:']),
    ...comparable.reasons.map((reason) => `${comparable.ok ? 'note' : '  '}: ${inEnglish(reason)}`),
    '',
    // What moved the total most comes first.
    ...(pairs.length === 0
      ? []
      : [pairTable([...pairs].sort((one, other) => magnitude(other) - magnitude(one)))]),
    ...(changed.length === 0 ? [] : ['', ...changed]),
  ].join('\n')
}

// A session that was built but not run, as terminal text: the compiler's figures and what is derived from the launch.

const bytes = (value: number | null | undefined): string =>
  value == null ? none : formatBytes(value)

/** null if ptxas reported no kernel: nothing was compiled, which differs from having no spills. */
const spilled = ({ spillStoreBytes, spillLoadBytes }: Build): number | null =>
  spillStoreBytes === null || spillLoadBytes === null ? null : spillStoreBytes + spillLoadBytes

/** The distinct values over a rung's launches: `256` or `256, 512`. */
const each = (
  rung: RungResult,
  word: (launch: NonNullable<RungResult['launches']>[number]) => string,
) => (rung.launches ? [...new Set(rung.launches.map(word))].join(', ') : none)

/** Any session, as `run` and `show` print it. */
export function sessionText(session: Session): string {
  if (isBuiltOnly(session.target)) return describeStatic(session)
  if (isOfPrograms(session)) return describePrograms(session)
  return can(session.target).knowsRun ? describeSession(session) : describeKernels(session)
}

function describeStatic(session: Session): string {
  const gpu = gpuOfTarget(session.target)
  const limiters = (rung: RungResult): string =>
    each(rung, (launch) => {
      const found = gpu && launchOccupancy(launch, { ...gpu, smCount: gpu.smCount })
      return !found || 'reason' in found ? none : found.limiters.join(' and ') || none
    })
  const figure = (rung: RungResult, id: string): string => {
    const value = rung.metrics[id]
    return value?.value == null ? none : formatValue(value.value, value.unit)
  }
  const columns: Column<RungResult>[] = [
    { header: 'rung', align: 'left', cell: ({ id }) => id },
    {
      header: 'registers',
      cell: (rung) => each(rung, ({ resources }) => `${resources.registersPerThread}`),
    },
    { header: 'max', cell: ({ build }) => `${build?.registersPerThread ?? none}` },
    {
      header: 'spills',
      cell: ({ build }) => bytes(build && spilled(build)),
    },
    {
      header: 'static shared',
      cell: (rung) => each(rung, ({ resources }) => bytes(resources.staticSharedBytes)),
    },
    {
      header: 'dynamic',
      cell: (rung) => each(rung, ({ resources }) => bytes(resources.dynamicSharedBytes)),
    },
    { header: 'threads', cell: (rung) => each(rung, (launch) => `${threadsOf(launch)}`) },
    { header: 'occ. theor.', cell: (rung) => figure(rung, 'theoreticalOccupancy') },
    { header: 'limited by', align: 'left', cell: limiters },
    { header: 'waves/SM', cell: (rung) => figure(rung, 'wavesPerSm') },
  ]
  return [
    describeOrigin(session),
    table(session.rungs, columns),
    'registers, shared memory and threads: of the kernels that this problem launches; max and spills: over all compiled kernels; occupancy and waves: derived',
    ...session.warnings.map((warning) => `warning: ${inEnglish(warning)}`),
    ...session.rungs.flatMap((rung) => troublesOf(session, rung)),
  ].join('\n')
}

function troublesOf(session: Session, rung: RungResult): string[] {
  const { id, status, reason, metrics } = rung
  if (status === 'not-run') {
    const why = metrics.theoreticalOccupancy
    return why?.value == null ? [`${id}: ${inEnglish(why?.reason ?? reason ?? '')}`] : []
  }
  return [
    `${id}: ${status}. ${inEnglish(reason ?? '')}`.trimEnd(),
    ...describeErrors(session, rung),
  ]
}
