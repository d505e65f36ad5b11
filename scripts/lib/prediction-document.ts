/** The generated parts of docs/evidence/prediction.md. */
import { rangesTable } from './prediction-ranges'
import type { PredictedRow } from './prediction-rows'
import { accuracyTables } from './prediction-table'

export { ablations } from '../../src-main/domain/prediction/ablation'
export { predictionModel } from '../../src-main/domain/prediction/prediction'
export { ablatedRecordings, ablationPath } from './ablation-table'
export { factorsPath, factorsText } from './prediction-ranges'
export { accuracyPath, rowsOf } from './prediction-rows'
export { accuracyDocument, summary } from './prediction-table'

export const documentBlocks = (rows: readonly PredictedRow[]): [marker: string, text: string][] => [
  ['accuracy', accuracyTables(rows)],
  ['ranges', rangesTable(rows)],
]
