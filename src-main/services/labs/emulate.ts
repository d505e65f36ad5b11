/** Counts a submission on an emulated GPU, line by line, without judging it. */
import type { LabFolder } from '../../adapters/labs/library'
import { emulatedProblem } from '../../domain/emulation/size'
import { submissionId } from '../../domain/labs/judge'
import { emulatePlan } from '../targets/emulated'
import type { FinishedRun, StartRunOptions } from '../targets/saved-run'
import { planLab } from './plan'

export async function emulateSubmission(
  lab: LabFolder,
  source: string,
  /** Of the built-in table; null for the default one. */
  gpu: string | null,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const { library, plan } = planLab(lab, source)
  const { alsoVerify: _more, ...rest } = plan
  const isOwn = ({ id }: { id: string }): boolean => id === submissionId
  return emulatePlan(
    library,
    {
      ...rest,
      ladder: { ...plan.ladder, reference: null, rungs: plan.ladder.rungs.filter(isOwn) },
      rungs: plan.rungs.filter(({ rung }) => isOwn(rung)),
      reference: null,
      profile: 'deep',
      // At the size of the lab it would take hours, and the lines are the same.
      problem: emulatedProblem(plan.task, plan.problem),
    },
    gpu,
    options,
  )
}
