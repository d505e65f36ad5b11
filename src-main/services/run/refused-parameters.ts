/** Parameter values that are each allowed, and that a rung cannot take together. */
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Diagnostic } from '../../domain/session/session'
import type { RunPlan } from './plan'

/** The rule that a rung's source states and the values break: the words of its static_assert. */
const brokenRule = (diagnostics: readonly Diagnostic[]): string | null =>
  diagnostics
    .map(({ message }) => /^static assertion failed with "([^"]+)"/.exec(message)?.[1])
    .find((rule) => rule !== undefined) ?? null

/**
 * Refuses a run that was asked for with parameters that none of its rungs can take, before anything is
 * launched. Where another rung can, the run goes on, and those that cannot are failed with the same words.
 * @param diagnostics what the compiler said of each rung, by id
 * @throws an input error that names each rung, the values and the rule
 */
export function refuseImpossible(
  plan: RunPlan,
  diagnostics: ReadonlyMap<string, readonly Diagnostic[]>,
): void {
  const asked = Object.keys(plan.asked ?? {})
  const refused = plan.rungs
    .filter(({ rung }) => rung.id !== plan.reference?.rung.id)
    .map(({ rung }) => ({ rung, rule: brokenRule(diagnostics.get(rung.id) ?? []) }))
  if (asked.length === 0 || refused.length === 0 || refused.some(({ rule }) => rule === null))
    return
  const valuesOf = (params: Record<string, number>): string =>
    asked
      .filter((name) => params[name] !== undefined)
      .map((name) => `${name}=${params[name]}`)
      .join(', ')
  const sentences = refused.map(({ rung, rule }) =>
    message('asked.cannotTake', { rung: rung.id, values: valuesOf(rung.params), rule: rule! }),
  )
  throw inputError({ sentences }, message('asked.nothingLaunched'))
}
