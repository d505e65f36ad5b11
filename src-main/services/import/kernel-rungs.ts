/**
 * Converts imported kernels to a session's rungs. The runner has not built, verified, or timed
 * these rungs.
 */
import { profileLaunches } from '../../adapters/sessions/report-file'
import type { RungResult } from '../../domain/session/session'
import type { Ladder } from '../../domain/ladder/ladder'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { instructionsOf } from '../../domain/session/registry-figures'
import type { ImportedCode } from './imported-code'
import type { ImportedRung } from './group-launches'

export function kernelLadder(
  { id, title, summary }: Pick<Ladder, 'id' | 'title' | 'summary'>,
  rungs: readonly Pick<ImportedRung, 'id' | 'title'>[],
  { fileOf }: ImportedCode,
): Ladder {
  return {
    id,
    title,
    summary,
    task: null,
    scalars: {},
    options: {},
    sizes: [],
    reference: null,
    rungs: rungs.map((rung) => ({
      id: rung.id,
      title: rung.title,
      header: {
        id: rung.id,
        title: rung.title,
        after: null,
        idea: summary,
        expect: [],
        params: [],
        options: {},
        flags: [],
        requires: null,
      },
      params: {},
      file: fileOf.get(rung.id)?.file ?? '',
    })),
  }
}

export const kernelResult = (
  { id, title, launches }: ImportedRung,
  { fileOf, deep }: ImportedCode,
  level: ProfileLevel,
): RungResult => ({
  id,
  title,
  after: null,
  idea: '',
  expect: [],
  flags: [],
  params: {},
  file: '',
  sourceHash: '',
  ...fileOf.get(id),
  status: 'ok',
  diagnostics: [],
  build: null,
  verify: null,
  timing: null,
  ...profileLaunches(launches, level, instructionsOf(deep.find(({ rung }) => rung === id))),
})
