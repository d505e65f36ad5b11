/** Compares predictions with published times of GPUs that this project did not measure. */
import { mdTable } from '../../src-main/domain/text/markdown'
import { figuresOf, isInside, isTold, orderOf, percent, ratioOf, rowsOf } from './prediction-rows'
import type { PredictedRow, Rung } from './prediction-rows'
import { publishedFigures } from './recorded-ladders'

export const publishedPath = 'test/captures/prediction/published.json'

interface PublishedLadder {
  ladder: string
  /** Name of the GPU's parameter file. */
  gpu: string
  size: Record<string, number>
  /** Published GFLOP/s by rung. */
  gflops: Record<string, number>
}

/**
 * Returns the ladders with published figures for a GPU that has a parameter file but was not
 * measured.
 */
export function publishedLadders(root: string): PublishedLadder[] {
  const files: Record<string, string> = {
    'NVIDIA GeForce RTX 3090': 'rtx-3090',
    'NVIDIA Tesla T4': 't4',
    'NVIDIA A100': 'a100',
  }
  return [...publishedFigures(root)].flatMap(([ladder, { gpu, size, gflops }]) => {
    const file = files[gpu ?? '']
    return file ? [{ ladder, gpu: file, size: { ...size }, gflops }] : []
  })
}

/** Returns a row per published figure. The ladder id is stored in the row's `recording` field. */
export function publishedRows(
  { ladder, gpu, size, gflops }: PublishedLadder,
  predicted: { rungs: Rung[] },
): PredictedRow[] {
  const operations = 2 * size['m']! * size['n']! * size['k']!
  const rungs = Object.entries(gflops).map(([id, rate]) => ({
    ...{ id, metrics: {} },
    timing: { medianMs: operations / rate / 1e6 },
  }))
  return rowsOf(ladder, gpu, predicted, { rungs, ladder, settings: {} })
}

export function publishedTable(rows: readonly PredictedRow[]): string {
  const told = rows.filter(isTold)
  const { mean, median } = figuresOf(rows)
  const { pairs, right } = orderOf(rows, 0.05)
  const inside = told.filter(isInside).length
  const headers = ['GPU', 'Ladder', 'Rung', 'Published', 'Predicted', 'Ratio', 'In the range']
  return [
    mdTable(
      headers.map((header) => ({ header })),
      rows.map((row) => [
        ...[row.gpu, `\`${row.ladder}\``, `\`${row.rung}\``, `${row.measuredMs.toPrecision(3)} ms`],
        ...(isTold(row)
          ? [
              `${row.predicted.ms.toPrecision(3)} ms`,
              ratioOf(row).toFixed(2),
              isInside(row) ? 'yes' : 'no',
            ]
          : ['–', '–', '–']),
      ]),
    ),
    ...(told.length < rows.length ? ['A dash marks a rung that the emulator rejects.'] : []),
    `For ${told.length} published rungs, the mean error is ${percent(mean)} and the median error is ${percent(median)}. ${right} of ${pairs} pairs that differ by more than 5 % are in the right order. ${inside} rungs are in the range.`,
  ].join('\n\n')
}
