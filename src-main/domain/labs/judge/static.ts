/** Judges the compiler's resource usage report. */
import type { StaticCheck } from '../lab'
import type { LabFigure } from '../outcome'
import { message } from '../../messages/message'
import type { LabEvidence } from './evidence'
import { passed, failed, notHere, measured, type Verdict } from './verdict'
import { metricLabel } from './check-title'

export function judgeStatic(check: StaticCheck, evidence: LabEvidence): Verdict {
  const { build } = evidence
  if (!build) return notHere(evidence.reason ?? message('checks.notBuilt'))
  if (!build.ok || !build.resources) return failed(build.reason ?? message('checks.notCompiled'))
  const { registersPerThread, staticSharedBytes, spillStoreBytes, spillLoadBytes } = build.resources
  if (registersPerThread === null) return failed(message('checks.noKernel'))
  const shared = staticSharedBytes ?? 0
  const spills = (spillStoreBytes ?? 0) + (spillLoadBytes ?? 0)
  const figures: LabFigure[] = [
    { label: metricLabel('registersPerThread'), value: measured(registersPerThread, 'registers') },
    { label: message('checks.staticShared'), value: measured(shared, 'bytes') },
    { label: message('checks.spilled'), value: measured(spills, 'bytes') },
  ]
  const faults = [
    ...(check.maxRegisters !== undefined && registersPerThread > check.maxRegisters
      ? [
          message('part.tooManyRegisters', {
            registers: registersPerThread,
            most: check.maxRegisters,
          }),
        ]
      : []),
    ...(check.maxSharedBytes !== undefined && shared > check.maxSharedBytes
      ? [message('part.tooManyBytes', { bytes: shared, most: check.maxSharedBytes })]
      : []),
    ...(check.noSpills && spills > 0 ? [message('part.spills', { bytes: spills })] : []),
  ]
  return faults.length > 0
    ? failed(message('checks.faults', { faults }), figures)
    : passed(
        message('checks.resources', { registers: registersPerThread, bytes: shared, spills }),
        figures,
      )
}
