/** Prints advice about the next change to a rung as terminal text. */
import { firstStepWords, type FirstStep } from '../../../domain/next/first-step'
import type { Next, NextStep } from '../../../domain/next/next'
import { formatMs, formatRatio, formatShare } from '../../../domain/metrics/units'
import { inEnglish } from '../../../domain/text/english'

const indent = '   '

function describeStep(step: NextStep, index: number): string[] {
  const { statement, costs, speedup, msNow, msAfter, evidence, lines, example } = step
  const after =
    msAfter.low === msAfter.high
      ? formatMs(msAfter.mid)
      : `${formatMs(msAfter.low)} to ${formatMs(msAfter.high)}`
  return [
    `${index + 1}. ${inEnglish(statement)}`,
    `${indent}${formatMs(msNow)} → ${after}, most likely ${formatMs(msAfter.mid)} (${formatRatio(speedup.mid)} as fast)`,
    ...evidence.map((one) => `${indent}${inEnglish(one)}`),
    ...(lines ?? []).map(({ file, line, text, share }) =>
      `${indent}${file}:${line}, ${formatShare(share)}: ${text?.trim() ?? ''}`.trimEnd(),
    ),
    `${indent}${inEnglish(costs)}`,
    ...(example
      ? [
          `${indent}Example: kernel-ladder diff recorded:${example.recording} ${example.from} ${example.to}`,
        ]
      : []),
  ]
}

/** Describes only the first step. The text is printed after the output for a rung or session. */
export function describeFirst(first: FirstStep, rung?: string): string {
  const next = rung === undefined ? 'Next step' : `Next step for ${rung}`
  return `${next}: ${firstStepWords(first)}${first.step ? ' Run `next` for all steps.' : ''}`
}

export const describeNext = ({ rung, steps, limit }: Next): string =>
  [
    `${rung}: ${inEnglish(limit)}`,
    ...steps.flatMap((step, index) => ['', ...describeStep(step, index)]),
    ...(steps.length === 0
      ? []
      : ['', 'Ranges: from recorded steps of other ladders; see docs/evidence/next.md.']),
  ].join('\n')
