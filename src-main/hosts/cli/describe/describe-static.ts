/**
 * Prints a session that was built but not run. Shows compiler figures and metrics derived from the
 * launches.
 */
import { inEnglish } from '../../../domain/text/english'
import { formatBytes, formatValue } from '../../../domain/metrics/units'
import {
  isOfPrograms,
  type Session,
  type Build,
  type RungResult,
} from '../../../domain/session/session'
import { table, type Column } from '../table'
import { buildColumn, describeOrigin, describeSession } from './describe-ladder'
import { launchOccupancy, threadsOf } from '../../../domain/analysis/derived-metrics'
import { can, gpuOfTarget, isBuiltOnly } from '../../../domain/targets/targets'
import { describeKernels } from './describe-kernels'
import { describePrograms } from './describe-programs'
import { describeDiagnostics, describeWarnings } from './describe-errors'
import { none } from './figure'

const bytes = (value: number | null | undefined): string =>
  value == null ? none : formatBytes(value)

/**
 * Returns the number of spilled bytes. Returns null if ptxas reported no kernel, because a missing
 * report is different from zero spills.
 */
const spilled = ({ spillStoreBytes, spillLoadBytes }: Build): number | null =>
  spillStoreBytes === null || spillLoadBytes === null ? null : spillStoreBytes + spillLoadBytes

/** Returns the distinct values over a rung's launches, such as `256` or `256, 512`. */
const each = (
  rung: RungResult,
  word: (launch: NonNullable<RungResult['launches']>[number]) => string,
) => (rung.launches ? [...new Set(rung.launches.map(word))].join(', ') : none)

/** Returns the text that `run` and `show` print for a session. */
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
    ...buildColumn(session),
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
    ...new Set(describeWarnings(session)),
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
    ...describeDiagnostics(session, rung, 'error'),
  ]
}
