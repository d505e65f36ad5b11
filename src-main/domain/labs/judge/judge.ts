/** Judges an attempt by its measurements. Pure: the outcome depends only on the evidence. */
import type { Lab, LabCheck } from '../lab'
import type { CheckResult } from '../outcome'
import type { LabEvidence } from './evidence'
import type { Verdict } from './verdict'
import { checkTitle } from './check-title'
import { judgeCorrectness } from './correctness'
import { judgeSanitizer } from './sanitizer'
import { judgeMetric } from './metric'
import { judgeTime } from './time'
import { judgeStatic } from './static'

function judgeCheck(check: LabCheck, evidence: LabEvidence): Verdict {
  switch (check.kind) {
    case 'correctness':
      return judgeCorrectness(check, evidence)
    case 'sanitizer':
      return judgeSanitizer(check, evidence)
    case 'metric':
      return judgeMetric(check, evidence)
    case 'time':
      return judgeTime(check, evidence)
    case 'static':
      return judgeStatic(check, evidence)
  }
}

export const judgeChecks = (lab: Lab, evidence: LabEvidence): CheckResult[] =>
  lab.checks.map((check) => ({
    id: check.id,
    kind: check.kind,
    title: checkTitle(check),
    figures: [],
    ...judgeCheck(check, evidence),
  }))
