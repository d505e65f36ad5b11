/**
 * `kernel-ladder ladders`: lists ladders and their rungs, with the recorded measurements of each
 * rung.
 */
import type { SetUp } from '../../../adapters/machine/machine'
import type { ProgramFolder } from '../../../adapters/catalog/program-folder'
import { readCatalog } from '../../../adapters/catalog/catalog'
import { exitCodes } from '../../../domain/errors'
import { sizesLabel } from '../../../domain/task/problem'
import type { RungMeasured } from '../../../domain/analysis/rung-measured'
import { formatMs, formatRatio } from '../../../domain/metrics/units'
import { inEnglish } from '../../../domain/text/english'
import { measuredRungs } from '../../../services/sessions/measured'
import { laddersDocument } from '../documents/ladders'
import { copiesOf } from '../../../services/folders/copies'
import { openLadder, openPrograms } from '../../../services/folders/open'
import { note, printJson, printText, problemText } from '../output'
import { table } from '../table'
import { namesOf, problemAt } from '../../../domain/task/problem-request'

/** Returns text such as `4.44 ms, 0.605× of 00_cublas`. */
function timeCell(measured: RungMeasured | null): string {
  if (!measured) return ''
  const { medianMs, reference } = measured
  return reference
    ? `${formatMs(medianMs)}, ${formatRatio(reference.ratio)} of ${reference.to}`
    : formatMs(medianMs)
}

/**
 * Lists a ladder of programs. In place of sources, this kind of ladder has commands. It has no
 * parameters or options.
 */
function programsListed({ ladder, programs }: ProgramFolder, json: boolean | undefined): number {
  const { id, title, summary, sizes, scalars, options, reference, rungs } = ladder
  if (json)
    printJson(laddersDocument, {
      tasks: [],
      ladders: [
        {
          ...{ id, title, summary, task: null, sizes, scalars, options, reference },
          rungs: rungs.map((rung) => ({
            id: rung.id,
            title: rung.title,
            idea: rung.header.idea,
            expect: [],
            note: rung.note ?? null,
            file: rung.file === '' ? null : rung.file,
            params: [],
            values: {},
            options: {},
            takes: {},
            flags: [],
            requires: null,
            ...(rung.program ? { program: rung.program } : {}),
            measured: null,
          })),
        },
      ],
      problems: [],
    })
  else {
    printText(`${id}: ${title}`)
    printText(`  ${summary}`)
    const { runs, output } = programs
    printText(
      `  programs: ${runs} timed runs each; baseline rung: ${reference ?? 'none'}; output: ${output?.file ?? 'not checked'}`,
    )
    printText(
      table(rungs, [
        { header: '', align: 'left', cell: (rung) => `  ${rung.id}` },
        { header: '', align: 'left', cell: (rung) => rung.title },
        { header: '', align: 'left', cell: (rung) => (rung.program ?? []).join(' ') },
      ]),
    )
  }
  return 0
}

/**
 * Lists ladders. `name` selects one ladder by id or folder. Without `name`, lists all shipped
 * ladders.
 */
export async function laddersCommand(
  setUp: SetUp,
  name: string | undefined,
  { json }: { json?: boolean },
): Promise<number> {
  const setup = await setUp()
  const { assets } = setup
  const programs = name === undefined ? null : await openPrograms(setup, name)
  if (programs) return programsListed(programs, json)
  const { catalog, id } =
    name === undefined
      ? { catalog: await readCatalog(assets.kernelsDir), id: null }
      : await openLadder(setup, name)
  const files = catalog.ladders.filter((file) => id === null || file.id === id)
  const ladders = await Promise.all(
    files.map(async (file) => {
      const { schema: _schema, rungs, ...rest } = file
      const task = catalog.tasks.get(rest.task)!
      const { scalars, options } = problemAt(task, {}, { ...rest, sizes: rest.sizes[0] })
      const ladder = { ...rest, scalars, options }
      const measured = await measuredRungs(setup, catalog, ladder.id)
      return {
        ...ladder,
        rungs: rungs.map((entry) => {
          const source = catalog.rungs.get(entry.id)
          const id = entry.as ?? entry.id
          return {
            id,
            title: entry.title ?? source?.header.title ?? null,
            idea: source?.header.idea ?? null,
            expect: source?.header.expect ?? [],
            note: entry.note ?? null,
            file: source?.file ?? null,
            params: source?.header.params ?? [],
            values: entry.params ?? {},
            options: { ...ladder.options, ...entry.options },
            takes: source?.header.options ?? {},
            flags: source?.header.flags ?? [],
            requires: source?.header.requires ?? null,
            measured: measured[id] ?? null,
          }
        }),
      }
    }),
  )
  const used = new Set(ladders.map(({ task }) => task))
  const tasks = [...catalog.tasks.values()].filter((task) => id === null || used.has(task.id))
  const problems = [...catalog.faults.values()].map(inEnglish)
  if (json) printJson(laddersDocument, { tasks, ladders, problems })
  else
    for (const ladder of ladders) {
      printText(`${ladder.id}: ${ladder.title}`)
      printText(`  ${ladder.summary}`)
      printText(
        `  sizes: ${ladder.sizes.map(sizesLabel).join(', ')}; baseline rung: ${ladder.reference ?? 'none'}`,
      )
      const task = catalog.tasks.get(ladder.task)
      if (id !== null && task) printText(`  --at takes: ${namesOf(task).join(', ')}`)
      const copies = await copiesOf(setup, ladder.id)
      if (copies.length > 0)
        printText(`  copies, run by --rungs: ${copies.map(({ rung }) => rung).join(', ')}`)
      const recordings = [
        ...new Set(ladder.rungs.flatMap(({ measured }) => measured?.recording ?? [])),
      ]
      if (recordings.length > 0)
        printText(`  times: ${recordings.map((name) => `recorded:${name}`).join(', ')}`)
      printText(
        table(ladder.rungs, [
          { header: '', align: 'left', cell: ({ id }) => `  ${id}` },
          { header: '', align: 'left', cell: ({ title }) => title ?? '(invalid file)' },
          { header: '', align: 'left', cell: ({ measured }) => timeCell(measured) },
        ]),
      )
    }
  for (const problem of problems) note(problemText(problem))
  return problems.length > 0 ? exitCodes.input : 0
}
