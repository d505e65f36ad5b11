/**
 * Finds semantic errors in a ladder: values that its task rejects, and duplicate or unknown names.
 */
import { caseOf, named, type Problem } from '../task/problem'
import { Task, flagsOf } from '../task/task'
import { toErrorShape } from '../errors'
import { message, type Statement } from '../messages/message'
import { settingsFaults, type BuildSettings } from './build-settings'
import { type Report } from '../task/faults'
import { checkLaunch, checkLaunchAt } from './launch-description'
import { LadderFile } from './ladder'
import { problemFaults } from '../task/problem-faults'
import { At, problemAt } from '../task/problem-request'

interface LadderFault {
  path: readonly (string | number)[]
  message: Exclude<Statement, string>
  /** Whether the error is in the ladder or in its task. */
  of: 'ladder' | 'task'
}

/**
 * Returns the errors in a ladder. `evaluated` is false if errors in the task prevent evaluating its
 * expressions.
 */
export function ladderFaults(task: Task, ladder: LadderFile, evaluated = true): LadderFault[] {
  const faults: LadderFault[] = []
  const report = (path: LadderFault['path'], fault: LadderFault['message']): void => {
    faults.push({ path, message: fault, of: 'ladder' })
  }
  const problem = (
    path: LadderFault['path'],
    at: At,
    of: LadderFault['of'] = 'ladder',
  ): Problem | null => {
    try {
      return problemAt(task, { at: { ...ladder.scalars, ...ladder.options, ...at } }, {})
    } catch (error) {
      const { message: fault, remedy } = toErrorShape(error)
      faults.push({ path, message: { sentences: remedy ? [fault, remedy] : [fault] }, of })
      return null
    }
  }
  // Report an error in the first entry only once, although other entries inherit its values.
  const first = Object.fromEntries(
    Object.entries(ladder.sizes[0] ?? {}).filter(
      ([name, value]) => Object.hasOwn(task.sizes, name) && value <= task.sizes[name]!.max,
    ),
  )
  const problems = [
    ...ladder.sizes.map((sizes, index) => problem(['sizes', index], sizes)),
    ...(task.sanitize ? [problem(['sanitize'], task.sanitize, 'task')] : []),
    ...(ladder.testAt ?? []).map((at, index) => problem(['testAt', index], { ...first, ...at })),
  ]
  for (const [index, { options }] of ladder.rungs.entries())
    if (options) {
      problem(['rungs', index, 'options'], { ...first, ...options })
      if (typeof task.reference === 'object')
        report(['rungs', index, 'options'], message('task.noRungToCheck'))
    }
  const settings = (path: LadderFault['path'], own: BuildSettings | undefined): void => {
    for (const fault of own ? settingsFaults(own) : [])
      report([...path, ...fault.path], fault.message)
  }
  settings(['build'], ladder.build)
  for (const [index, { build }] of ladder.rungs.entries())
    settings(['rungs', index, 'build'], build)
  for (const [index, { launch }] of ladder.rungs.entries()) {
    if (!launch) continue
    const before = faults.length
    const ofLaunch: Report = (path, fault) => {
      const whole = ['rungs', index, 'launch', ...path]
      if (!faults.some((one) => String(one.path) === String(whole))) report(whole, fault)
    }
    checkLaunch(task, launch, ofLaunch)
    if (faults.length > before) continue
    for (const one of problems.flatMap((found) => found ?? []))
      checkLaunchAt(task, caseOf(one), launch, (path, fault) =>
        ofLaunch(path, message('task.at', { at: named({ ...one.sizes, ...one.scalars }), fault })),
      )
  }
  if (ladder.published) problem(['published', 'size'], ladder.published.size)

  const flags = flagsOf(task).map(([flag]) => flag)
  for (const one of evaluated ? problems.flatMap((found) => found ?? []) : [])
    for (const own of [caseOf(one), caseOf(one, { flags })])
      for (const fault of problemFaults(task, own))
        if (!faults.some(({ path, of }) => of === 'task' && String(path) === String(fault.path)))
          faults.push({ ...fault, of: 'task' })

  const names = ladder.rungs.map(({ id, as }) => as ?? id)
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index)
      report(['rungs', index], message('task.repeatedVariant', { name }))
  const noRung = (rung: string) =>
    message('task.noRung', { rung, rungs: [...new Set(names)].join(', ') })
  if (ladder.reference !== null && !names.includes(ladder.reference))
    report(['reference'], noRung(ladder.reference))
  if (typeof task.reference === 'object' && !names.includes(task.reference.rung))
    faults.push({
      of: 'task',
      path: ['reference', 'rung'],
      message: noRung(task.reference.rung),
    })
  return faults
}
