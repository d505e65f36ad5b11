/**
 * Handles a request's compile-time parameters. Checks each parameter against the rungs that declare
 * it, and applies its value to the rungs that allow that value.
 */
import { inputError } from '../../domain/errors'
import { findById } from '../../domain/ladder/former-ids'
import type { LadderRung } from '../../domain/ladder/ladder'
import type { Parameters, RungHeader } from '../../domain/ladder/rung'
import { message, type Statement } from '../../domain/messages/message'
import type { Diagnostic } from '../../domain/session/session'
import type { RunPlan } from '../../domain/run/plan'

export const list = (words: Iterable<string>): string => [...words].join(', ')

/**
 * Splits a parameter name such as `BK` (for all rungs) or `05_tile.BK` (for a single rung). The
 * rung's id may contain dots.
 */
export function splitParameterName(word: string): { rung: string | null; name: string } {
  const dot = word.lastIndexOf('.')
  return { rung: dot < 0 ? null : word.slice(0, dot), name: word.slice(dot + 1) }
}

/** Checks that a header declares each requested parameter and allows its value. */
export function checkParams(
  params: Parameters,
  headers: readonly RungHeader[],
  /** Description of the rung or ladder that declares the parameters, for error messages. */
  whole: Statement,
): Parameters {
  for (const [name, value] of Object.entries(params)) {
    const declared = headers.flatMap((header) => header.params.filter((p) => p.name === name))
    if (declared.length === 0) {
      const known = new Set(headers.flatMap((header) => header.params.map((p) => p.name)))
      throw inputError(
        message('asked.noParameter', { whole, name: JSON.stringify(name) }),
        known.size > 0
          ? message('asked.parameters', { names: list(known) })
          : message('asked.noParameters'),
      )
    }
    if (!declared.some((param) => param.allowed.includes(value)))
      throw inputError(
        message('asked.notAllowed', { name, value }),
        message('asked.allowed', {
          name,
          values: list(new Set(declared.flatMap((p) => p.allowed.map(String)))),
        }),
      )
  }
  return params
}

/** Returns the names of the parameters that are requested for a rung. */
const requestedNames = (requested: Parameters, id: string): string[] =>
  Object.keys(requested).flatMap((word) => {
    const { rung, name } = splitParameterName(word)
    return rung === null || rung === id ? name : []
  })

/**
 * Applies the requested values to the rungs that allow them. A value requested for a single rung
 * takes precedence. Reports the rungs that keep their defaults. Throws an error if no rung allows a
 * value.
 */
export function giveParams(
  rungs: readonly LadderRung[],
  requested: Parameters,
  whole: Statement,
): Statement[] {
  const ofAll: Parameters = {}
  const ofOne: [LadderRung, string, number][] = []
  for (const [word, value] of Object.entries(requested)) {
    const { rung: id, name } = splitParameterName(word)
    const rung = id === null ? undefined : findById(rungs, id)
    if (id === null) ofAll[name] = value
    else if (rung) ofOne.push([rung, name, value])
    else
      throw inputError(
        message('asked.noRungRun', { name: JSON.stringify(word) }),
        message('asked.rungsRun', { rungs: list(rungs.map((candidate) => candidate.id)) }),
      )
  }
  checkParams(
    ofAll,
    rungs.map(({ header }) => header),
    whole,
  )
  for (const [{ header, id }, name, value] of ofOne) checkParams({ [name]: value }, [header], id)

  const left: Statement[] = []
  for (const rung of rungs)
    for (const { name, allowed } of rung.header.params) {
      const own = ofOne.find(([of, word]) => of === rung && word === name)?.[2]
      const value = own ?? ofAll[name]
      if (value === undefined) continue
      if (allowed.includes(value)) rung.params[name] = value
      else
        left.push(
          message('records.parameterLeft', {
            rung: rung.id,
            name,
            asked: value,
            value: rung.params[name] ?? '',
            allowed: allowed.join(', '),
          }),
        )
    }
  return left
}

/** Returns the message of the failed static_assert, which states the violated rule. */
const brokenRule = (diagnostics: readonly Diagnostic[]): string | null =>
  diagnostics
    .map(({ message }) => /^static assertion failed with "([^"]+)"/.exec(message)?.[1])
    .find((rule) => rule !== undefined) ?? null

/**
 * Rejects a run before any launch if the requested parameters are impossible for all of its rungs.
 * If some rungs accept the parameters, the run continues and the other rungs fail with the same
 * message.
 * @param diagnostics the compiler's messages by rung id
 * @throws an input error that names each rung, the values, and the rule
 */
export function refuseImpossible(
  plan: RunPlan,
  diagnostics: ReadonlyMap<string, readonly Diagnostic[]>,
): void {
  const requested = plan.requestedParameters ?? {}
  const refused = plan.rungs
    .filter(({ rung }) => rung.id !== plan.reference?.rung.id)
    .map(({ rung }) => ({ rung, rule: brokenRule(diagnostics.get(rung.id) ?? []) }))
  if (
    Object.keys(requested).length === 0 ||
    refused.length === 0 ||
    refused.some(({ rule }) => rule === null)
  )
    return
  const valuesOf = ({ id, params }: LadderRung): string =>
    requestedNames(requested, id)
      .filter((name) => params[name] !== undefined)
      .map((name) => `${name}=${params[name]}`)
      .join(', ')
  const sentences = refused.map(({ rung, rule }) =>
    message('asked.cannotTake', { rung: rung.id, values: valuesOf(rung), rule: rule! }),
  )
  throw inputError({ sentences }, message('asked.nothingLaunched'))
}
