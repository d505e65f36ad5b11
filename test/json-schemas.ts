/**
 * Validates documents against the published schemas. The closed form of a schema also rejects
 * unlisted fields.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'

export const schemasDir = join(import.meta.dirname, '../docs/schemas')

export const publishedNames = readdirSync(schemasDir).map((file) => file.replace(/\.json$/, ''))

export const publishedText = (name: string): string =>
  readFileSync(join(schemasDir, `${name}.json`), 'utf8')

/** Returns a schema in which every object with named properties rejects other properties. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const inside = Object.fromEntries(Object.entries(node).map(([key, one]) => [key, closed(one)]))
  return 'properties' in node && !('additionalProperties' in node)
    ? { ...inside, additionalProperties: false }
    : inside
}

function validator(schema: object): ValidateFunction {
  // Each validator is used only a few times, so optimizing its code does not pay off.
  const ajv = new Ajv2020({ allowUnionTypes: true, code: { optimize: false } })
  addFormats(ajv)
  return ajv.compile(schema)
}

const schemaOf = (name: string): object => JSON.parse(publishedText(name)) as object
const kept = new Map<string, ValidateFunction>()

function keptValidator(key: string, make: () => object): ValidateFunction {
  const known = kept.get(key) ?? validator(make())
  kept.set(key, known)
  return known
}

/** Returns whether a document matches the published schema. */
export const isValid = (name: string, value: unknown): boolean =>
  keptValidator(name, () => schemaOf(name))(value)

/** Returns a document's faults according to the closed schema, which must list every field. */
export function faultsOf(name: string, value: unknown): string[] {
  const validate = keptValidator(`${name}, closed`, () => closed(schemaOf(name)) as object)
  validate(value)
  return (validate.errors ?? []).map(
    ({ instancePath, message = '', params }) =>
      `${name}${instancePath}: ${message} ${JSON.stringify(params)}`,
  )
}
