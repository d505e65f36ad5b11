/**
 * The English templates of the domain's messages, one table per area; `{name}` marks where a value is inserted.
 * Every other language has the same keys and placeholders in its `statements.json`; a test checks that.
 */
import { baseline, rungVerdict } from './baseline'
import { deep } from './deep'
import { ceilings, figures, occupancy, roofline } from './figures'
import { guard } from './guard'
import { imports } from './imports'
import { checks, reflect } from './labs'
import { part } from './part'
import { fact, origin, provenance } from './provenance'
import { doctor, records } from './records'
import { status, summary } from './summary'
import { tools } from './tools'

export const templates = {
  guard,
  summary,
  status,
  baseline,
  rungVerdict,
  fact,
  origin,
  provenance,
  ceilings,
  roofline,
  occupancy,
  figures,
  checks,
  reflect,
  part,
  records,
  imports,
  deep,
  doctor,
  tools,
} as const
