/** `kernel-ladder doctor`: checks whether this machine can build, run and profile. */
import type { SetUp } from '../../../adapters/machine/machine'
import type { DoctorReport } from '../../../contract/index'
import { exitCodes } from '../../../domain/errors'
import { inEnglish } from '../../../domain/text/english'
import { diagnose } from '../../../services/doctor/doctor'
import { printJson, printText, remedyLines } from '../output'
import { doctorDocument } from '../documents/doctor'

const signs = { ok: '✓', warning: '!', missing: '✗', unknown: '?' } as const

/** Returns one line per check. If a check has a remedy, the remedy follows on the next line. */
export const doctorText = ({ checks }: DoctorReport): string =>
  checks
    .flatMap(({ status, label, detail, remedy }) => [
      `${signs[status]} ${label}: ${inEnglish(detail)}`,
      ...remedyLines(remedy).map((line) => `    ${line}`),
    ])
    .join('\n')

export async function doctorCommand(setUp: SetUp, { json }: { json?: boolean }): Promise<number> {
  const { assets, machine } = await setUp()
  const report = await diagnose(machine, assets)
  if (json) printJson(doctorDocument, report)
  else printText(doctorText(report))
  return report.canProfile ? 0 : exitCodes.missing
}
