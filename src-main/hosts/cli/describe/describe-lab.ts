/** Prints a lab outcome as terminal text. */
import { inEnglish } from '../../../domain/text/english'
import { unjudged, type LabOutcome } from '../../../domain/labs/outcome'
import { can } from '../../../domain/targets/targets'
import { table } from '../table'

const signs = {
  passed: '✓',
  failed: '✗',
  unavailable: '?',
  met: '✓',
  missed: '✗',
  'not-given': '·',
  right: '✓',
  wrong: '✗',
} as const

const verdicts: Record<LabOutcome['status'], string> = {
  passed: 'Passed.',
  failed: 'Not passed yet.',
  unavailable: 'Cannot be fully checked here.',
}

/**
 * Describes the outcome. For an emulated GPU, the description also states whether the lab accepts a
 * pass without a real GPU.
 */
function verdictText(outcome: LabOutcome): string {
  const { status, target } = outcome
  if (status !== 'passed' || can(target).times) return verdicts[status]
  const open = unjudged(outcome).map(({ id }) => id)
  return open.length === 0
    ? can(target).predicts
      ? 'Passed, and the lab is complete; times are predicted.'
      : 'Passed, and the lab is complete; times are not checked on an emulated GPU.'
    : `Passed as far as an emulated GPU can check. The lab is complete once a GPU has checked ${open.join(', ')}.`
}

export function describeOutcome(outcome: LabOutcome): string {
  const { build, checks, predictions, questions, target, device } = outcome
  const origin = !device
    ? 'not measured'
    : can(target).replays
      ? `recorded on ${device.name} as ${target.name}`
      : can(target).times
        ? `measured on ${device.name}`
        : `${can(target).predicts ? 'predicted for' : 'emulated on'} ${device.name}`
  return [
    `${outcome.title} · ${origin}`,
    ...(build.ok ? [] : [`Not built: ${inEnglish(build.reason ?? '')}`]),
    ...build.diagnostics
      .filter(({ severity }) => severity !== 'note')
      .map(
        ({ file, line, severity, message }) =>
          `  ${file?.split('/').pop() ?? ''}${line === null ? '' : `:${line}`}: ${severity}: ${message}`,
      ),
    table(checks, [
      { header: '', align: 'left', cell: ({ status }) => signs[status] },
      { header: '', align: 'left', cell: ({ id }) => id },
      { header: '', align: 'left', cell: ({ status }) => status },
      { header: '', align: 'left', cell: ({ sentence }) => inEnglish(sentence) },
    ]),
    ...(predictions.length > 0 ? ['predictions'] : []),
    ...predictions.flatMap(({ id, status, sentence, explanation }) => [
      `${signs[status]} ${id}: ${inEnglish(sentence)}`,
      ...explanation.map((line) => `    ${inEnglish(line)}`),
    ]),
    ...(questions.length > 0 ? ['questions'] : []),
    ...questions.map(
      ({ id, status, sentence }) => `${signs[status]} ${id}: ${inEnglish(sentence)}`,
    ),
    ...(build.occupancy.length > 0 && outcome.status === 'unavailable'
      ? [
          `derived occupancy on ${build.architecture ?? ''}, by threads per block, without dynamic shared memory: ${build.occupancy.map(({ threads, percent }) => `${threads}: ${percent.toFixed(0)} %`).join(', ')}`,
        ]
      : []),
    verdictText(outcome),
    ...(outcome.reason === null ? [] : [inEnglish(outcome.reason)]),
  ].join('\n')
}
