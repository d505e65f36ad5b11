/**
 * The English templates of the domain's messages, one table per area; `{name}` marks where a value is inserted.
 * Every other language has the same keys and placeholders in its `statements.json`; a test checks that.
 */
import { asked } from './asked'
import { baseline, rungVerdict } from './baseline'
import { commits } from './commits'
import { deep } from './deep'
import { ceilings, figures, occupancy, roofline } from './figures'
import { folders } from './folders'
import { clockReason, gpuState } from './gpu-state'
import { guard } from './guard'
import { imports } from './imports'
import { checks, labs, reflect } from './labs'
import { machineCode } from './machine-code'
import { machines } from './machines'
import { part } from './part'
import { emulation } from './emulation'
import { drafts } from './drafts'
import { editor } from './editor'
import { doing, elsewhere, files } from './files'
import { programs } from './programs'
import { fact, origin, provenance } from './provenance'
import { doctor, records } from './records'
import { reports } from './reports'
import { pages, sessions } from './sessions'
import { slurm } from './slurm'
import { status, summary } from './summary'
import { tools } from './tools'
import { tunings } from './tunings'
import { unit, unitWithin, wait, why } from './why'

export const templates = {
  guard,
  summary,
  status,
  baseline,
  rungVerdict,
  fact,
  origin,
  provenance,
  gpuState,
  clockReason,
  ceilings,
  roofline,
  occupancy,
  figures,
  checks,
  reflect,
  machines,
  slurm,
  part,
  records,
  imports,
  deep,
  emulation,
  programs,
  machineCode,
  asked,
  commits,
  files,
  doing,
  elsewhere,
  sessions,
  pages,
  reports,
  drafts,
  editor,
  folders,
  labs,
  doctor,
  tools,
  tunings,
  unit,
  unitWithin,
  wait,
  why,
} as const
