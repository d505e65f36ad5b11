/**
 * The English words of what the domain says, a table an area; `{name}` is where a value is set in. Every
 * other language has the same keys and names in its `statements.json`, held to these by a test.
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
