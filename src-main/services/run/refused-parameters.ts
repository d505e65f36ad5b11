/** Parameter values that are allowed individually but impossible in combination. */
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Diagnostic } from '../../domain/session/session'
import type { LadderRung } from '../../domain/ladder/ladder'
import { askedOf } from './parameters'
import type { RunPlan } from './plan'

/** The violated rule: the message of the source's static_assert. */
const brokenRule = (diagnostics: readonly Diagnostic[]): string | null =>
  diagnostics
    .map(({ message }) => /^static assertion failed with "([^"]+)"/.exec(message)?.[1])
    .find((rule) => rule !== undefined) ?? null

/**
 * Rejects a run whose requested parameters are impossible for all of its rungs, before anything is launched. If some
 * rungs accept them, the run continues, and the others fail with the same message.
 * @param diagnostics the compiler's messages by rung id
 * @throws an input error that names each rung, the values and the rule
 */
export function refuseImpossible(
  plan: RunPlan,
  diagnostics: ReadonlyMap<string, readonly Diagnostic[]>,
): void {
  const asked = plan.asked ?? {}
  const refused = plan.rungs
    .filter(({ rung }) => rung.id !== plan.reference?.rung.id)
    .map(({ rung }) => ({ rung, rule: brokenRule(diagnostics.get(rung.id) ?? []) }))
  if (
    Object.keys(asked).length === 0 ||
    refused.length === 0 ||
    refused.some(({ rule }) => rule === null)
  )
    return
  const valuesOf = ({ id, params }: LadderRung): string =>
    askedOf(asked, id)
      .filter((name) => params[name] !== undefined)
      .map((name) => `${name}=${params[name]}`)
      .join(', ')
  const sentences = refused.map(({ rung, rule }) =>
    message('asked.cannotTake', { rung: rung.id, values: valuesOf(rung), rule: rule! }),
  )
  throw inputError({ sentences }, message('asked.nothingLaunched'))
}
