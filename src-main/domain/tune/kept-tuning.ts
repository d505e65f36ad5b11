/** The stored form of a finished sweep, so that its ranking can be opened again. */
import { z } from 'zod'
import { Identifier } from '../ladder/rung'
import { tuneShape } from './report'

export const TuningId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/)

export const KeptTuning = z.object({
  schema: z.literal(1),
  id: TuningId,
  createdAt: z.iso.datetime(),
  /** Name of the machine in machines.yaml that ran the sweep; null for this machine. */
  machine: z.string().nullable(),
  /** Local path of the user's ladder folder; null for a built-in ladder. */
  folder: z.string().nullable(),
  report: z.object(tuneShape),
})

export type KeptTuning = z.infer<typeof KeptTuning>

/** A sweep's entry in the list of stored sweeps. */
export const ListedTuning = z.object({
  id: TuningId,
  createdAt: z.string(),
  ladder: Identifier,
  rung: Identifier,
  gpu: z.string(),
  points: z.number().int(),
})

export type ListedTuning = z.infer<typeof ListedTuning>

/**
 * Returns an id that sorts by ladder, rung and time, such as
 * `gemm-fp32-08_warp_tile-20261122-133107`.
 */
export const tuningId = ({ ladder, rung }: KeptTuning['report'], createdAt: string): string =>
  `${ladder.slice(0, 80)}-${rung.slice(0, 80)}-${createdAt.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`

export const listed = ({ id, createdAt, report }: KeptTuning): ListedTuning => ({
  ...{ id, createdAt, ladder: report.ladder, rung: report.rung },
  gpu: report.gpus[0]?.name ?? '',
  points: report.rows.length,
})
