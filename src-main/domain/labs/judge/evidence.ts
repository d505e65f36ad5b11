/** A submission's measurements, and the reasons for any missing measurements. */
import { message, type Statement } from '../../messages/message'
import { rungOf, type Build, type Session } from '../../session/session'
import { failed, notHere, type Verdict } from './verdict'

/** The submission's rung id in its session. */
export const submissionId = 'submission'

/** The result of one compute-sanitizer tool. */
interface SanitizerVerdict {
  tool: string
  status: 'clean' | 'found' | 'failed' | 'unsupported' | 'not-run'
  reason?: Statement | undefined
  /** Number of errors, warnings or hazards; null if the tool printed no count. */
  total: number | null
  findings: readonly { place: { line: number | null }; message: string }[]
}

export interface LabEvidence {
  /**
   * The session that contains the measurements. Null if nothing could be measured; `reason`
   * explains why.
   */
  session: Session | null
  reason: Statement | null
  /** The compiler's result; null if the compiler did not run. */
  build: { resources: Build | null; ok: boolean; reason: Statement | null } | null
  /** Results of the compute-sanitizer tools by check id, or the reason why no tool ran. */
  sanitized: Readonly<Record<string, readonly SanitizerVerdict[] | { reason: Statement }>>
}

/**
 * Returns the fault in the submission that prevented its measurement, or null if there is none.
 */
export function ownFault(evidence: LabEvidence): Statement | null {
  if (evidence.build && !evidence.build.ok)
    return evidence.build.reason ?? message('checks.notCompiled')
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'ok' || own.status === 'unsupported' || own.status === 'not-run')
    return null
  return own.reason ?? message('checks.failed')
}

/** Returns the verdict for a submission that did not run, or null if the submission ran. */
export function cannot(evidence: LabEvidence): Verdict | null {
  const fault = ownFault(evidence)
  if (fault !== null) return failed(fault)
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own) return notHere(evidence.reason ?? message('checks.nothingMeasured'))
  if (own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own.reason ?? message('checks.didNotRun'))
  return null
}
