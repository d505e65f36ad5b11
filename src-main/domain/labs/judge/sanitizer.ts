/** Judges the findings of compute-sanitizer. */
import type { SanitizerCheck } from '../lab'
import { message } from '../../messages/message'
import { ownFault, type LabEvidence } from './evidence'
import { passed, failed, notHere, type Verdict } from './verdict'

export function judgeSanitizer(check: SanitizerCheck, evidence: LabEvidence): Verdict {
  if (evidence.build && !evidence.build.ok)
    return failed(evidence.build.reason ?? message('checks.notCompiled'))
  const sanitized = evidence.sanitized[check.id]
  if (!sanitized) {
    const fault = ownFault(evidence)
    return fault === null
      ? notHere(evidence.reason ?? message('checks.sanitizerNotRun'))
      : failed(fault)
  }
  if ('reason' in sanitized) return notHere(sanitized.reason)
  const runs = check.tools.map((tool) => ({
    tool,
    run: sanitized.find((candidate) => candidate.tool === tool),
  }))
  const found = runs.find(({ run }) => run?.status === 'found')
  if (found?.run) {
    const [first] = found.run.findings
    const counted = { tool: found.tool, total: found.run.total ?? found.run.findings.length }
    const line = first?.place.line
    return failed(
      first && line != null
        ? message('checks.countsInLine', { ...counted, line, text: first.message })
        : message('checks.counts', counted),
    )
  }
  const silent = runs.find(({ run }) => run?.status !== 'clean')
  if (silent)
    return notHere(
      message('checks.noVerdict', {
        tool: silent.tool,
        why: silent.run?.reason ?? message('checks.didNotRun'),
      }),
    )
  return passed(message('checks.nothingFound', { tools: check.tools.join(', ') }))
}
