/** Judges whether the submission passed verification at every size. */
import type { CorrectnessCheck } from '../lab'
import { message } from '../../messages/message'
import { sameSizes, sizesLabel } from '../../task/problem'
import { rungOf } from '../../session/session'
import { submissionId, ownFault, type LabEvidence } from './evidence'
import { passed, failed, notHere, type Verdict } from './verdict'
import { sizes } from './check-title'

export function judgeCorrectness(check: CorrectnessCheck, evidence: LabEvidence): Verdict {
  if (evidence.build && !evidence.build.ok)
    return failed(evidence.build.reason ?? message('checks.notCompiled'))
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own?.reason ?? evidence.reason ?? message('checks.nothingMeasured'))
  const usual = evidence.session?.ladder.task?.scalars ?? {}
  const sameScalars = (scalars: Readonly<Record<string, number>>): boolean =>
    Object.entries(scalars).every(
      ([name, value]) => value === (check.scalars[name] ?? usual[name]?.value),
    )
  const verified = check.sizes.map((size) => {
    const done = own.alsoVerified?.find(
      ({ problem }) => sameSizes(problem.sizes, size) && sameScalars(problem.scalars),
    )
    return { label: sizesLabel(size), done }
  })
  const worst = Math.max(...verified.map(({ done }) => done?.verify?.worstRelativeError ?? 0))
  const wrong = verified.find(({ done }) => done && !done.verify?.passed)
  if (wrong)
    return failed(
      message('checks.wrongAt', {
        size: wrong.label,
        why: wrong.done?.reason ?? message('checks.wrong'),
      }),
    )
  const open = verified.filter(({ done }) => !done)
  const fault = ownFault(evidence)
  if (open.length > 0 && fault !== null) return failed(fault)
  if (open.length > 0)
    return notHere(message('checks.notRunAt', { sizes: open.map(({ label }) => label).join(', ') }))
  return passed(message('checks.right', { sizes: sizes(check.sizes), error: worst.toPrecision(2) }))
}
