/** Prints the facts that `init --from` found about a kernel, and the assumptions that it made. */
import { inEnglish } from '../../../domain/text/english'
import { expressionText, isConstant, shapeText } from '../../../domain/proposal/counts'
import { numberText } from '../../../domain/proposal/write'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import type { FromFile } from '../../../services/folders/from-file/from-file'

type Row = [what: string, value: string, from: string]

const table = (rows: readonly Row[]): string => {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map(([what, value, from]) =>
      `  ${what.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${from}`.trimEnd(),
    )
    .join('\n')
}

const guess = (reasons: readonly string[], known: string): string =>
  reasons.length === 0 ? known : `guess: ${reasons.join('; ')}`

function mainText({ main, launches, kernel }: FromFile, file: string): string {
  if (!main) return `${file} has no main(), so every number is invented.`
  const where = main.isIsolated
    ? 'in a sandbox without network, with its files read-only'
    : 'without network, processes, or writing files, but not in its own sandbox'
  const ending = main.stopped
    ? `stopped: ${inEnglish(main.stopped)}`
    : `ended after ${main.seconds.toFixed(1)} s`
  const seen =
    launches === 0
      ? `It did not launch ${kernel}, so every number is invented. If it needs arguments, put them after --.`
      : `${launches === 1 ? 'One launch' : `${launches} different launches`} of ${kernel} ${launches === 1 ? 'was' : 'were'} recorded${launches === 1 ? '' : '; the first is used'}.`
  return `main() ran on the CPU ${where}, and ${ending}.\n${seen}`
}

export function describeProposal(found: FromFile, file: string): string {
  const { proposal, launcher, reference, tried, isSameLaunch, unset } = found
  const invented = found.launches === 0 ? ['invented'] : []
  const sizes = proposal.sizes.map(({ name, value, why }): Row => [
    `size ${name}`,
    `${value}${proposal.fixed === null ? '' : ' (fixed)'}`,
    guess(
      [why, proposal.fixed, ...invented].filter((text) => text !== null),
      'recorded',
    ),
  ])
  const equal = proposal.equal.map((names): Row => [
    'equal sizes',
    names.join(', '),
    guess(['in trials with unequal sizes it accessed memory outside its buffers'], ''),
  ])
  const scalars = proposal.scalars.map(({ name, dtype, value }): Row => [
    `scalar ${name}`,
    `${dtype} ${numberText(value, dtype)}`,
    guess(invented, 'recorded'),
  ])
  const buffers = proposal.buffers.map(({ name, dtype, shape, access, guesses }): Row => [
    `buffer ${name}`,
    `${access} ${dtype}[${shapeText(shape).join(', ')}]`,
    guess(guesses, tried.observed && !tried.observed.stop ? 'observed' : 'from its type'),
  ])
  const grid = proposal.grid.map(({ count }) => expressionText(count)).join(', ')
  const launch: Row = launcher
    ? ['launch', `${launcher.name}()`, guess(launcher.guesses, 'the file’s own launcher')]
    : [
        'launch',
        `<<<(${grid}), (${proposal.block.join(', ')})${proposal.dynamicSharedBytes > 0 ? `, ${proposal.dynamicSharedBytes}` : ''}>>>`,
        proposal.grid.every(({ count }) => isConstant(count))
          ? guess(invented, 'recorded')
          : guess(
              [
                found.launches === 0 ? 'invented' : 'a formula that yields the recorded grid',
                ...proposal.grid.flatMap(({ guesses }) => guesses),
              ],
              '',
            ),
      ]
  const checked: Row[] =
    isSameLaunch === null
      ? []
      : [
          [
            'same launch',
            isSameLaunch ? 'yes' : 'no',
            isSameLaunch
              ? 'the rung launches what the program launched'
              : 'the rung launches a different grid or block than the program',
          ],
        ]
  const trial: Row[] = tried.trouble
    ? [['trial', 'failed', inEnglish(tried.trouble)]]
    : tried.observed?.stop
      ? [['trial', 'stopped', `${tried.observed.stop.kind} ${tried.observed.stop.detail}`.trim()]]
      : []
  return [
    mainText(found, file),
    ...unset.map(
      (name) =>
        `The program sets ${name} before the launch. It is too large for the rung’s source: set it in kl_launch.`,
    ),
    `${shownPath(found.folder)}: ${found.files.join(', ')}`,
    '',
    table([
      ['kernel', found.kernel, ''],
      ...sizes,
      ...equal,
      ...scalars,
      ...buffers,
      launch,
      ...checked,
      reference === null
        ? [
            'reference',
            'the rung itself',
            found.refusedReference
              ? `guess: trusted. ${found.refusedReference.name}() has the kernel’s parameters, but: ${inEnglish(found.refusedReference.why)}`
              : 'guess: trusted',
          ]
        : ['reference', `${reference}()`, 'guess: its parameters are the kernel’s'],
      ...trial,
    ]),
  ].join('\n')
}
