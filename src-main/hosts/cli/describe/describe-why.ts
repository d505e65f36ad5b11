/** Prints, as terminal text, why one rung is faster than another. */
import { inEnglish, plain } from '../../../domain/text/english'
import { formatRatio, formatShare } from '../../../domain/metrics/units'
import type { Why } from '../../../domain/why/why'
import type { CauseLine, CauseLines } from '../../../domain/why/cause-lines'
import type { WhyStep } from '../../../domain/why/why-steps'
import { printedCauses } from '../../../services/report/printed-causes'

const width = 6
const indent = ' '.repeat(width + 2)

const place = ({ line, text, share, changed }: CauseLine): string =>
  `${indent}  line ${line}${changed === true ? ' (changed)' : ''}, ${formatShare(share)}: ${text?.trim() ?? ''}`.trimEnd()

function describeLines({ a, b }: CauseLines): string[] {
  const lines = [...a, ...b]
  const files = [...new Set(lines.map(({ file }) => file))]
  return files.flatMap((file) => [
    `${indent}${file}`,
    ...lines.filter((line) => line.file === file).map(place),
  ])
}

/** Lists the causes, followed by counters that became worse without affecting the time. */
export function describeWhy(why: Why): string[] {
  const { groups, unimportant, notes } = printedCauses(why)
  return [
    ...(why.predicted ? [inEnglish(why.predicted)] : []),
    ...groups.flatMap(({ heading, causes }) => [
      heading,
      ...causes.flatMap(({ cause, factor, sentence }) => [
        `${factor.padStart(width)}  ${plain(sentence)}`,
        ...(cause?.lines ? describeLines(cause.lines) : []),
      ]),
    ]),
    ...(why.reason ? [`Why: ${notes[0]!}`] : []),
    ...(unimportant
      ? [unimportant.heading, ...unimportant.sentences.map((one) => `  ${plain(one)}`)]
      : []),
    ...notes.slice(why.reason ? 1 : 0),
  ]
}

/**
 * Returns one line per step with its main cause. If counters do not explain some steps, also
 * returns a line with the required profile level.
 */
export function describeSteps(steps: readonly WhyStep[]): string[] {
  const explained = steps.flatMap(({ a, b, why }) => {
    const statement = why.causes[0]?.statement ?? (why.verdict === 'same' ? why.reason : undefined)
    if (!a.timing || !b.timing || !statement) return []
    const factor = formatRatio(a.timing.medianMs / b.timing.medianMs)
    return [`  ${b.id}, ${factor} as fast as ${a.id}: ${inEnglish(statement)}`]
  })
  const unexplained = steps.find(
    ({ why }) => why.causes.length === 0 && why.needs?.level === 'standard',
  )
  const lines = [
    ...explained,
    ...(unexplained ? [`  ${inEnglish(unexplained.why.needs!.statement)}`] : []),
  ]
  return lines.length > 0
    ? ['why each rung is faster or slower than the previous one:', ...lines]
    : []
}
