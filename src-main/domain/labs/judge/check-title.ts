/**
 * Default check titles. If the author gave a check no title, its default title describes the
 * requirement.
 */
import type { LabCheck, StaticCheck } from '../lab'
import { message, type Statement } from '../../messages/message'
import { metricDefinition } from '../../metrics/metrics'
import { sizesLabel, type Sizes } from '../../task/problem'

export const sizes = (all: readonly Sizes[]): string => all.map(sizesLabel).join(', ')

export const metricLabel = (metric: string): Statement =>
  metric === 'time'
    ? message('figures.time')
    : metricDefinition(metric)
      ? message('part.metric', { metric: { metric } })
      : metric

function staticTitle({ maxRegisters, maxSharedBytes, noSpills }: StaticCheck): Statement {
  const first = maxRegisters === undefined
  const parts = [
    ...(first ? [] : [message('checks.atMostRegisters', { most: maxRegisters })]),
    ...(maxSharedBytes === undefined
      ? []
      : [
          message(first ? 'checks.atMostBytesFirst' : 'part.atMostBytes', {
            most: maxSharedBytes,
          }),
        ]),
    ...(noSpills
      ? [message(first && maxSharedBytes === undefined ? 'checks.noSpillsFirst' : 'part.noSpills')]
      : []),
  ]
  return parts.length === 0
    ? ''
    : parts.reduceRight((rest, part) => message('checks.and', { part, rest }))
}

/** Returns a title that describes the check's requirement. */
export function checkTitle(check: LabCheck): Statement {
  if (check.title !== undefined) return check.title
  switch (check.kind) {
    case 'correctness':
      return message('checks.rightAt', { sizes: sizes(check.sizes) })
    case 'sanitizer':
      return message('checks.sanitizerTitle', { tools: check.tools.join(', ') })
    case 'metric':
      return metricLabel(check.metric)
    case 'time':
      return message('checks.timeTitle', check.below)
    case 'static':
      return staticTitle(check)
  }
}
