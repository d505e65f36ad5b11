/**
 * Scrubs the statements in advice, which may quote names, and the source lines that the advice
 * cites.
 */
import type { Next } from '../../domain/next/next'
import { scrubStatement, type Scrubber } from './scrub'

export const scrubNext = ({ rung, steps, limit }: Next, { sentence, source }: Scrubber): Next => ({
  rung,
  limit: scrubStatement(limit, sentence),
  steps: steps.map(({ lines, ...step }) => ({
    ...step,
    statement: scrubStatement(step.statement, sentence),
    costs: scrubStatement(step.costs, sentence),
    evidence: step.evidence.map((one) => scrubStatement(one, sentence)),
    ...(lines
      ? {
          lines: lines.map((line) => ({
            ...line,
            file: sentence(line.file),
            text: line.text === null ? null : source(line.text),
          })),
        }
      : {}),
  })),
})
