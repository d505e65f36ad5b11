/** The output of `doctor --json`. */
import { DoctorReport } from '../../../contract/index'
import { documentKind } from './document'

export const doctorDocument = documentKind({
  name: 'doctor',
  version: 2,
  title: 'doctor',
  description:
    'What `kernel-ladder doctor --json` prints: what this machine has and what is missing.',
  fields: DoctorReport.shape,
})
