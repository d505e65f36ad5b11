/**
 * Lists the schemas published in docs/schemas. The schemas cover every JSON document that a command
 * prints, and every file that the program reads.
 */
import { CiDocument, ciSchemaVersion } from '../../../domain/analysis/baseline-document'
import { LabFile } from '../../../domain/labs/lab'
import { AnyLadderDocument } from '../../../domain/ladder/ladder-document'
import { Session, sessionSchemaVersion } from '../../../domain/session/session'
import { MachinesFile } from '../../../domain/remote/machine-file'
import { runDocument } from './run'
import { type PublishedSchema } from './document'
import { sanitizeDocument } from './sanitize'
import { laddersDocument } from './ladders'
import {
  machineCheckDocument,
  machineRunsDocument,
  machinesDocument,
  machineFetchDocument,
} from './machines'
import { machineCalibrateDocument } from './machine-calibrate'
import { GpuParametersFile } from '../../../domain/prediction/gpu-parameters'
import { ComparisonJson, comparisonJsonVersion } from '../../../services/report/comparison-json'
import { errorDocument } from './error'
import { doctorDocument } from './doctor'
import { historyDocument } from './history'
import { regressDocument } from './regress'
import { tuneDocument } from './tune'
import { labGradeDocument } from './lab-grade'
import { labListDocument } from './lab-list'
import { labCheckDocument } from './lab-check'
import { sessionsDocument } from './sessions'
import { showRungDocument } from './show-rung'
import { diffDocument } from './diff'
import { compareDocument } from './compare'
import { nextDocument } from './next'
import { runSeveralDocument } from './run-several'

const ciDocument: PublishedSchema = {
  name: 'ci',
  version: ciSchemaVersion,
  title: 'check against a baseline',
  description:
    'What `kernel-ladder report --ci --json` prints. docs/guides/regress.md explains it.',
  schema: CiDocument,
}

const comparisonDocument: PublishedSchema = {
  name: 'comparison',
  version: comparisonJsonVersion,
  title: 'comparison of two sessions',
  description: 'What `kernel-ladder report A --compare B --format json` writes.',
  schema: ComparisonJson,
}

/** Documents that commands print. The schemas describe the form after defaults were applied. */
export const printedDocuments: readonly PublishedSchema[] = [
  doctorDocument,
  laddersDocument,
  runDocument,
  runSeveralDocument,
  sessionsDocument,
  showRungDocument,
  diffDocument,
  compareDocument,
  nextDocument,
  ciDocument,
  comparisonDocument,
  regressDocument,
  historyDocument,
  tuneDocument,
  sanitizeDocument,
  labListDocument,
  labCheckDocument,
  labGradeDocument,
  machinesDocument,
  machineCheckDocument,
  machineRunsDocument,
  machineFetchDocument,
  machineCalibrateDocument,
  errorDocument,
]

/**
 * Files that the program reads. The schemas describe the form before defaults are applied, so
 * fields with a default may be omitted.
 */
export const readFiles: readonly PublishedSchema[] = [
  {
    name: 'session',
    version: sessionSchemaVersion,
    title: 'session',
    description:
      'session.json of a session folder, and what `kernel-ladder report --format json` writes. docs/reference/session-format.md explains the fields.',
    schema: Session,
  },
  {
    name: 'ladder',
    version: 1,
    title: 'ladder folder',
    description:
      'ladder.yaml or ladder.json of a ladder folder. docs/guides/ladders.md explains the keys; `kernel-ladder ladders DIR` also checks expressions, names and files.',
    schema: AnyLadderDocument,
  },
  {
    name: 'machines-file',
    version: 1,
    title: 'machines.yaml',
    description:
      'The machines for --target, in the configuration folder. docs/guides/machines.md explains the keys.',
    schema: MachinesFile,
  },
  {
    name: 'gpu',
    version: 1,
    title: 'parameters of a GPU',
    description:
      'What the timing model knows about a GPU: resources/gpus, and gpus in the configuration folder. docs/guides/calibration.md explains the values.',
    schema: GpuParametersFile,
  },
  {
    name: 'lab',
    version: null,
    title: 'front matter of a lab',
    description:
      'The YAML at the top of lab.md. docs/guides/labs.md explains the keys; `kernel-ladder lab validate` also checks the rungs, metrics and files that they name.',
    schema: LabFile,
  },
]
