import { z } from 'zod'
import { GpuParametersFile } from '../../../domain/prediction/gpu-parameters'
import { documentKind } from './document'

export const machineCalibrateDocument = documentKind({
  name: 'machine-calibrate',
  version: 1,
  title: 'machine calibrate',
  description:
    'What `kernel-ladder machine calibrate NAME --json` prints: the parameters of its GPU for the timing model. docs/guides/calibration.md explains them.',
  fields: {
    /** Machine name, or `local`. */
    machine: z.string(),
    /** Path to the parameter file. */
    file: z.string(),
    parameters: GpuParametersFile,
    /** Microbenchmark output, one JSON object per line. */
    output: z.string(),
  },
})
