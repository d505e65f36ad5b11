/**
 * Prints a session from a ladder of programs as terminal text. The text contains the wall times of
 * the processes and the times of their kernels.
 */
import { formatMs, formatShare, formatRatio } from '../../../domain/metrics/units'
import type { RungResult, Session } from '../../../domain/session/session'
import { inEnglish } from '../../../domain/text/english'
import { table, type Column } from '../table'
import { describeOrigin } from './describe-ladder'
import { stepWords } from '../../../domain/analysis/climb'
import { parseKernelName } from '../../../domain/programs/kernel-names'
import { none } from './figure'

/** Maximum number of kernels to name per rung, hottest first. */
const mostNamed = 3

export function describePrograms(session: Session): string {
  const { rungs } = session
  const timed = rungs.some(({ profiledTime }) => profiledTime)
  const verified = rungs.some(({ verify }) => verify)
  const columns: Column<RungResult>[] = [
    { header: 'rung', align: 'left', cell: ({ id }) => id },
    { header: 'status', align: 'left', cell: ({ status }) => status },
    { header: 'wall time', cell: ({ timing }) => (timing ? formatMs(timing.medianMs) : none) },
    { header: '±', cell: ({ timing }) => (timing ? `${(timing.spread * 50).toFixed(1)}%` : none) },
    ...(timed ? gpuColumns : []),
    {
      header: 'to ref.',
      cell: ({ timing }) =>
        timing?.ratioToReference == null ? none : formatRatio(timing.ratioToReference),
    },
    {
      header: 'step',
      cell: (rung) => inEnglish(stepWords(session, rung) ?? none),
    },
    ...(verified
      ? [
          {
            header: 'error',
            cell: ({ verify }: RungResult) => verify?.worstRelativeError?.toExponential(1) ?? none,
          },
        ]
      : []),
  ]
  const by = session.tools.ncu === null ? 'ncu' : `ncu ${session.tools.ncu}`
  return [
    describeOrigin(session),
    table(rungs, columns),
    `wall time: of the whole process, median; ± half the interquartile range${timed ? `; GPU time: the kernels of one run, each by itself under ${by}` : ''}`,
    ...rungs.flatMap(kernelLine),
    `the run took ${session.elapsedSeconds.toFixed(1)} s`,
    ...session.warnings.map((warning) => `warning: ${inEnglish(warning)}`),
    ...rungs.flatMap(({ id, status, reason }) =>
      status === 'ok' ? [] : [`${id}: ${status}. ${inEnglish(reason ?? '')}`.trimEnd()],
    ),
  ].join('\n')
}

const gpuColumns: readonly Column<RungResult>[] = [
  {
    header: 'GPU time',
    cell: ({ profiledTime }) => (profiledTime ? formatMs(profiledTime.totalMs) : none),
  },
  { header: 'launches', cell: ({ profiledTime }) => String(profiledTime?.launches ?? none) },
]

/** Returns a line such as `02_fused: 7 kernels, bias_gelu 43.1 %, …`. */
function kernelLine({ id, profile, profiledTime: all }: RungResult): string[] {
  if (!profile || !all) return []
  const hottest = [...profile.kernels]
    .sort((a, b) => (b.profiledTime?.totalMs ?? 0) - (a.profiledTime?.totalMs ?? 0))
    .slice(0, mostNamed)
    .map(
      ({ name, profiledTime: own }) =>
        `${parseKernelName(name).base} ${formatShare((own?.totalMs ?? 0) / all.totalMs)}`,
    )
  const { length } = profile.kernels
  const more = length > hottest.length ? ', …' : ''
  return [`${id}: ${length} ${length === 1 ? 'kernel' : 'kernels'}, ${hottest.join(', ')}${more}`]
}
