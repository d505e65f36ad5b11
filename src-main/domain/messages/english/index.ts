/**
 * The English templates of the domain's messages, one table per area, in ICU MessageFormat
 * (../format.ts). A test checks that the `statements.json` of every other language has the same
 * keys and placeholders. Write plural forms without a space before the brace, `one{…} other{…}`.
 * The TypeScript types of message values depend on this spelling.
 */
import { requests, clockReason, gpuState, machineCode, part, emulation, tools } from './runs'
import {
  baseline,
  cacheState,
  claim,
  rungVerdict,
  ceilings,
  figures,
  occupancy,
  roofline,
  guard,
  status,
  summary,
  timeNote,
} from './verdicts'
import {
  commits,
  compiled,
  folders,
  drafts,
  editor,
  doing,
  elsewhere,
  files,
  header,
  init,
  settings,
  task,
} from './folders'
import { deep, imports, doctor, records, reports, pages, sessions, stallSamples } from './sessions'
import { checks, labs, reflect } from './labs'
import { machines, programs, slurm } from './machines'
import { tunings, written } from './machines'
import { limiter, prediction, widened } from './prediction'
import { fact, origin, provenance } from './provenance'
import { unit, unitWithin, wait, why } from './causes'
import { comparison } from './comparison'
import { calibration } from './calibration'
import { next, path } from './next'

export const templates = {
  cacheState,
  calibration,
  claim,
  compiled,
  timeNote,
  guard,
  summary,
  status,
  baseline,
  rungVerdict,
  prediction,
  limiter,
  widened,
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
  stallSamples,
  emulation,
  programs,
  machineCode,
  asked: requests,
  init,
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
  settings,
  task,
  header,
  labs,
  doctor,
  tools,
  tunings,
  written,
  unit,
  unitWithin,
  wait,
  why,
  comparison,
  next,
  path,
} as const
