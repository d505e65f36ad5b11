/** Why one rung is faster than another, as terminal text. */
import { inEnglish } from '../../../domain/text/wording'
import { formatRatio } from '../../../domain/metrics/units'
import type { CauseLine } from '../../../domain/why/lines'
import type { WhyStep } from '../../../domain/why/steps'
import type { Cause, Why } from '../../../domain/why/why'

/** `105 %`, and `−8 %` for what went against the step. */
export function shareText(share: number): string {
  const percent = Math.round(100 * share)
  return `${percent < 0 ? '−' : ''}${Math.abs(percent)} %`
}

const width = 6

const shared = (share: number, text: string): string =>
  `${shareText(share).padStart(width)}  ${text}`

const place = ({ line, text, share, changed }: CauseLine): string =>
  `${' '.repeat(width)}    line ${line}${changed === true ? ' (changed)' : ''}, ${shareText(share)}: ${text?.trim() ?? ''}`.trimEnd()

function describeLines({ lines }: Cause): string[] {
  if (!lines) return []
  return [...lines.a, ...lines.b]
    .map(({ file }) => file)
    .filter((file, index, all) => all.indexOf(file) === index)
    .flatMap((file) => [
      `${' '.repeat(width)}  ${file}`,
      ...[...lines.a, ...lines.b].filter((line) => line.file === file).map(place),
    ])
}

const movedWords: Record<Why['verdict'], string> = {
  better: 'Worse, and it did not matter:',
  worse: 'Better, and it did not matter:',
  same: 'What moved:',
  changed: 'What moved:',
  unknown: 'What moved:',
}

/** The causes first, then what got worse and did not matter. */
export function describeWhy(why: Why): string[] {
  const { causes, unimportant, unexplained, needs, reason } = why
  return [
    ...(reason ? [`Why: ${inEnglish(reason)}`] : ['Why, with the share of the step:']),
    ...causes.flatMap((cause) => [
      shared(cause.share, inEnglish(cause.statement)),
      ...describeLines(cause),
    ]),
    ...(causes.length > 0 && unexplained !== null && Math.abs(unexplained) >= 0.005
      ? [shared(unexplained, 'unexplained')]
      : []),
    ...(unimportant.length > 0
      ? [
          movedWords[why.verdict],
          ...unimportant.map(({ statement }) => `  ${inEnglish(statement)}`),
        ]
      : []),
    ...(needs ? [inEnglish(needs.statement)] : []),
  ]
}

/** One line a step: its first cause; steps that the counters do not explain say once which level would. */
export function describeSteps(steps: readonly WhyStep[]): string[] {
  const told = steps.flatMap(({ a, b, why }) => {
    const said = why.causes[0]?.statement ?? (why.verdict === 'same' ? why.reason : undefined)
    if (!a.timing || !b.timing || !said) return []
    const factor = formatRatio(a.timing.medianMs / b.timing.medianMs)
    return [`  ${b.id}, ${factor} as fast as ${a.id}: ${inEnglish(said)}`]
  })
  const untold = steps.find(({ why }) => why.causes.length === 0 && why.needs?.level === 'standard')
  const lines = [...told, ...(untold ? [`  ${inEnglish(untold.why.needs!.statement)}`] : [])]
  return lines.length > 0
    ? ['why each rung is faster or slower than the one before:', ...lines]
    : []
}
