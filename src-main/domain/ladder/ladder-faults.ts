/** Semantic faults of a ladder: values that its task does not accept, duplicate or unknown names. */
import { toErrorShape } from '../errors'
import { inEnglish } from '../text/wording'
import { problemAt, type At } from '../task/choose'
import { problemFaults } from '../task/problem-faults'
import { caseOf, type Problem } from '../task/problem'
import { flagsOf, type Task } from '../task/task'
import type { LadderFile } from './ladder'

export interface LadderFault {
  path: readonly (string | number)[]
  message: string
  /** Whether the ladder or its task has the fault. */
  of: 'ladder' | 'task'
}

/** In file order. */
export function ladderFaults(task: Task, ladder: LadderFile): LadderFault[] {
  const faults: LadderFault[] = []
  const report = (path: LadderFault['path'], message: string): void => {
    faults.push({ path, message, of: 'ladder' })
  }
  const problem = (path: LadderFault['path'], at: At): Problem | null => {
    try {
      return problemAt(task, { at: { ...ladder.scalars, ...ladder.options, ...at } }, {})
    } catch (error) {
      const { message, remedy } = toErrorShape(error)
      report(path, [message, remedy].flatMap((part) => (part ? [inEnglish(part)] : [])).join(' '))
      return null
    }
  }
  // A fault of the first entry is its own, and not one of those that inherit from it.
  const first = Object.fromEntries(
    Object.entries(ladder.sizes[0] ?? {}).filter(
      ([name, value]) => Object.hasOwn(task.sizes, name) && value <= task.sizes[name]!.max,
    ),
  )
  const problems = [
    ...ladder.sizes.map((sizes, index) => problem(['sizes', index], sizes)),
    ...(ladder.testAt ?? []).map((at, index) => problem(['testAt', index], { ...first, ...at })),
  ]
  for (const [index, { options }] of ladder.rungs.entries())
    if (options) {
      problem(['rungs', index, 'options'], { ...first, ...options })
      if (typeof task.reference === 'object')
        report(
          ['rungs', index, 'options'],
          'With these options there is no rung to check this one against; provide a reference.cu.',
        )
    }
  if (ladder.published) problem(['published', 'size'], ladder.published.size)

  const flags = flagsOf(task).map(([flag]) => flag)
  for (const one of problems.flatMap((found) => found ?? []))
    for (const own of [caseOf(one), caseOf(one, { flags })])
      for (const fault of problemFaults(task, own))
        if (!faults.some(({ path, of }) => of === 'task' && String(path) === String(fault.path)))
          faults.push({ ...fault, of: 'task' })

  const names = ladder.rungs.map(({ id, as }) => as ?? id)
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index)
      report(
        ['rungs', index],
        `It repeats the name ${name}; give the variant its own name with "as".`,
      )
  const among = `; the rungs are ${[...new Set(names)].join(', ')}.`
  if (ladder.reference !== null && !names.includes(ladder.reference))
    report(['reference'], `There is no rung ${ladder.reference}${among}`)
  if (typeof task.reference === 'object' && !names.includes(task.reference.rung))
    faults.push({
      of: 'task',
      path: ['reference', 'rung'],
      message: `There is no rung ${task.reference.rung}${among}`,
    })
  return faults
}
