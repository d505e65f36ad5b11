/**
 * Generates the table of published occupancies in docs/evidence/results.md. Each occupancy is
 * compared with the occupancy derived from a build for the same GPU.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Published } from '../../src-main/domain/ladder/ladder'
import type { Session } from '../../src-main/domain/session/session'
import { mdTable } from '../../src-main/domain/text/markdown'

/** Figures that a static run derived for a rung. */
export interface BuiltRung {
  rung: string
  threadsPerBlock: number
  registersPerThread: number
  /** Theoretical occupancy in percent. */
  theoreticalOccupancy: number
  wavesPerSm: number
}

/** Returns the rungs of a static session for which an occupancy is known. */
export const builtRungs = ({ rungs }: Session): BuiltRung[] =>
  rungs.flatMap(({ id, launches, metrics }) => {
    const [launch] = launches ?? []
    const occupancy = metrics['theoreticalOccupancy']?.value
    const waves = metrics['wavesPerSm']?.value
    const registers = launch?.resources?.registersPerThread
    if (!launch || registers == null || occupancy == null || waves == null) return []
    return [
      {
        rung: id,
        threadsPerBlock: launch.block.reduce((product, size) => product * size, 1),
        registersPerThread: registers,
        theoreticalOccupancy: occupancy,
        wavesPerSm: waves,
      },
    ]
  })

/**
 * Figures from `static:rtx-3090` at the size in the publication, stored in test/captures/static.
 */
export const builtForRtx3090 = (root: string): BuiltRung[] =>
  JSON.parse(
    readFileSync(join(root, 'test/captures/static/seed-rtx3090.json'), 'utf8'),
  ) as BuiltRung[]

/**
 * Returns a table of the rungs with a published occupancy or number of waves. The table compares
 * the published figure with the derived figure.
 */
export function occupancyPart({ metrics }: Published, built: readonly BuiltRung[]): string {
  const figure = (value: number | undefined, digits: number): string =>
    value === undefined ? '–' : value.toFixed(digits)
  const rows = built.flatMap((ours) => {
    const theirs = metrics[ours.rung]
    if (theirs?.['theoreticalOccupancy'] === undefined && theirs?.['wavesPerSm'] === undefined)
      return []
    return [
      [
        `\`${ours.rung}\``,
        `${ours.threadsPerBlock}`,
        figure(theirs['registersPerThread'], 0),
        figure(ours.registersPerThread, 0),
        figure(theirs['theoreticalOccupancy'], 2),
        figure(ours.theoreticalOccupancy, 2),
        figure(theirs['wavesPerSm'], 2),
        figure(ours.wavesPerSm, 2),
      ],
    ]
  })
  const headers = [
    'rung',
    'threads per block',
    'registers, published',
    'registers, built',
    'occupancy %, published',
    'occupancy %, built',
    'waves per SM, published',
    'waves per SM, built',
  ]
  return mdTable(
    headers.map((header, at) => ({ header, align: at === 0 ? 'left' : 'right' })),
    rows,
  )
}
