/**
 * The English templates of the domain's messages, one table per area; `{name}` marks where a value is inserted.
 * Every other language has the same keys and placeholders in its `statements.json`; a test checks that.
 */
import { asked, clockReason, gpuState, machineCode, part, emulation, tools } from './runs'
import {
  baseline,
  rungVerdict,
  ceilings,
  figures,
  occupancy,
  roofline,
  guard,
  status,
  summary,
  unit,
  unitWithin,
  wait,
  why,
} from './verdicts'
import { commits, folders, drafts, editor, doing, elsewhere, files } from './folders'
import {
  deep,
  imports,
  fact,
  origin,
  provenance,
  doctor,
  records,
  reports,
  pages,
  sessions,
} from './sessions'
import { checks, labs, reflect } from './labs'
import { machines, programs, slurm } from './machines'
import { tunings, written } from './machines'

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
  written,
  unit,
  unitWithin,
  wait,
  why,
} as const
