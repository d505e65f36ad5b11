/** Generates parts of docs/evidence/prediction.md. */
import { ablationTables, type AblationFile } from './ablation-table'
import { publishedTable } from './prediction-published'
import { rangesTable } from './prediction-ranges'
import type { PredictedRow } from './prediction-rows'
import { accuracyTables } from './prediction-table'

export { ablations } from '../../src-main/domain/prediction/ablation'
export { ablatedRecordings, ablationPath } from './ablation-table'
export { publishedLadders, publishedPath, publishedRows } from './prediction-published'
export { factorsPath, factorsText } from './prediction-ranges'
export { accuracyPath, measuredAgain, rowsOf } from './prediction-rows'
export { accuracyDocument, summary } from './prediction-table'

export const documentBlocks = (
  rows: readonly PredictedRow[],
  ablation: AblationFile,
  published: readonly PredictedRow[],
): [marker: string, text: string][] => [
  ['accuracy', accuracyTables(rows)],
  ['ranges', rangesTable(rows)],
  ['ablation', ablationTables(rows, ablation)],
  ['data-sheets', publishedTable(published)],
]
