/** `kernel-ladder doctor`: what this machine has for building, running and profiling. */
import type { SetUp } from '../../../adapters/machine/machine'
import { exitCodes } from '../../../domain/errors'
import { inEnglish } from '../../../domain/text/wording'
import { diagnose } from '../../../services/machine/doctor'
import { doctorDocument } from '../documents/doctor'
import { printJson, printText } from '../output'

const signs = { ok: '✓', warning: '!', missing: '✗', unknown: '?' } as const

export async function doctorCommand(setUp: SetUp, { json }: { json?: boolean }): Promise<number> {
  const { assets, machine } = await setUp()
  const report = await diagnose(machine, assets)
  if (json) printJson(doctorDocument, report)
  else
    for (const { status, label, detail, remedy } of report.checks) {
      printText(`${signs[status]} ${label}: ${inEnglish(detail)}`)
      if (remedy) printText(`    ${inEnglish(remedy)}`)
    }
  return report.canProfile ? 0 : exitCodes.missing
}
