/**
 * Measures how much each part of the timing model contributes. For each part, computes the
 * prediction errors without that part.
 */
import { ablations, type Ablation } from '../../src-main/domain/prediction/ablation'
import { mdTable } from '../../src-main/domain/text/markdown'
import { figuresOf, orderOf, percent, type PredictedRow } from './prediction-rows'

export const ablationPath = 'test/captures/prediction/ablation.json'

/** Recordings that `npm run prediction -- --ablate` predicts. */
export const ablatedRecordings =
  '^(gemm-fp32-h200-1024|gemm-bf16-h100-4096|reduction-h200-4194304|softmax-h200-4096x4096|transpose-h200)$'

export interface AblatedRow extends PredictedRow {
  without: Ablation
}

export interface AblationFile {
  rows: AblatedRow[]
}

const words: Readonly<Record<Ablation, string>> = {
  'control-bits': 'without control bits',
  'register-banks': 'without register banks',
  'l1-replay': 'without L1 replay',
  'l2-limits': 'without L2 limits',
  'power-cap': 'without the power cap',
}

/**
 * Returns the ablation tables. `whole` contains the rows of the complete model for all recordings.
 */
export function ablationTables(whole: readonly PredictedRow[], { rows }: AblationFile): string {
  const recordings = [...new Set(rows.map(({ recording }) => recording))].toSorted()
  const lines: [string, readonly PredictedRow[]][] = [
    ['complete model', whole.filter(({ recording }) => recordings.includes(recording))],
    ...ablations.map((name): [string, PredictedRow[]] => [
      words[name],
      rows.filter(({ without }) => without === name),
    ]),
  ]
  const heads = ['', 'Rungs', 'Mean error', 'Median error', 'Bias', 'Pairs in order']
  const columns = (headers: readonly string[]) => headers.map((header) => ({ header }))
  return [
    mdTable(
      columns(heads),
      lines.map(([name, own]) => {
        const { count, mean, median, bias } = figuresOf(own)
        const { pairs, right } = orderOf(own, 0.05)
        return [
          ...[name, String(count), percent(mean), percent(median), bias.toFixed(3)],
          `${right} of ${pairs}`,
        ]
      }),
    ),
    'Mean error per recording:',
    mdTable(
      columns(['', ...recordings.map((name) => `\`${name}\``)]),
      lines.map(([name, own]) => [
        name,
        ...recordings.map((recording) =>
          percent(figuresOf(own.filter((row) => row.recording === recording)).mean),
        ),
      ]),
    ),
  ].join('\n\n')
}
