/** What was measured of a submission, and why there is nothing to judge. */
import { message, type Statement } from '../../messages/message'
import { rungOf, type Build, type Session } from '../../session/session'
import { failed, notHere, type Verdict } from './verdict'

/** The submission's id among the rungs of its session. */
export const submissionId = 'submission'

/** The result of one compute-sanitizer tool. */
interface SanitizerVerdict {
  tool: string
  status: 'clean' | 'found' | 'failed' | 'unsupported' | 'not-run'
  reason?: Statement | undefined
  /** Errors, warnings or hazards; null if the tool printed no count. */
  total: number | null
  findings: readonly { place: { line: number | null }; message: string }[]
}

export interface LabEvidence {
  /** null if nothing could be measured; `reason` says why. */
  session: Session | null
  reason: Statement | null
  /** The compiler's result; null if it was not run. */
  build: { resources: Build | null; ok: boolean; reason: Statement | null } | null
  /** By id of the sanitizer check: the result of each of its tools, or why none ran. */
  sanitized: Readonly<Record<string, readonly SanitizerVerdict[] | { reason: Statement }>>
}

/** Why the submission itself prevented measurement; null if it did not. */
export function ownFault(evidence: LabEvidence): Statement | null {
  if (evidence.build && !evidence.build.ok)
    return evidence.build.reason ?? message('checks.notCompiled')
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'ok' || own.status === 'unsupported' || own.status === 'not-run')
    return null
  return own.reason ?? message('checks.failed')
}

/** Why there is nothing to judge; null if the submission ran. */
export function cannot(evidence: LabEvidence): Verdict | null {
  const fault = ownFault(evidence)
  if (fault !== null) return failed(fault)
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own) return notHere(evidence.reason ?? message('checks.nothingMeasured'))
  if (own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own.reason ?? message('checks.didNotRun'))
  return null
}
