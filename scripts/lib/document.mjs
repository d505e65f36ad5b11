// @ts-check
/** Generated files: parts of documents between their markers, schemas, and the look that `npm run format` leaves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'oxfmt'
import { z } from 'zod'
import { root, PlainError } from './project.mjs'

// A document that is written by hand but for what stands between its markers.

// Generated files look as `npm run format` leaves them.

const { ignorePatterns: _, ...style } = JSON.parse(
  readFileSync(join(root, '.oxfmtrc.json'), 'utf8'),
)

/** @param {string} path its ending names the language @param {string} text */
export async function formatted(path, text) {
  const { code, errors } = await format(path, text, style)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  return code
}

/**
 * Puts a block between the two comments of a marker.
 * @param {string} text @param {string} name @param {string} block
 */
export function between(text, name, block) {
  const pattern = new RegExp(`(<!-- ${name}:begin -->\n)[\\s\\S]*?(<!-- ${name}:end -->)`)
  if (!pattern.test(text)) throw new PlainError(`There are no markers named ${name}.`)
  return text.replace(pattern, (_all, begin, end) => `${begin}\n${block}\n\n${end}`)
}

/**
 * The document with these blocks, formatted.
 * @param {string} path from the root of the repository
 * @param {Iterable<readonly [name: string, block: string]>} blocks
 */
export async function documentWith(path, blocks) {
  const file = join(root, path)
  let text = readFileSync(file, 'utf8')
  for (const [name, block] of blocks) text = between(text, name, block)
  return formatted(path, text)
}

// Generates the published JSON schemas from the zod schemas that also define the documents' types.

/** @typedef {import('../../src-main/hosts/cli/documents/document.ts').PublishedSchema} PublishedSchema */
/** @typedef {import('zod').z.core.JSONSchema.BaseSchema} JsonSchema */

const spoken = ['Message', 'Passage']

/**
 * Adjusts the schema of a printed document: later versions may add fields and messages, so no object is
 * closed, and every message includes its English text.
 * @param {{ zodSchema: z.core.$ZodType, jsonSchema: JsonSchema }} node
 */
function asPrinted({ zodSchema, jsonSchema }) {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (!spoken.includes(z.globalRegistry.get(zodSchema)?.id ?? '')) return
  const { properties = {}, required = [] } = jsonSchema
  if (properties.key) properties.key = { type: 'string' }
  jsonSchema.properties = { ...properties, text: { type: 'string' } }
  jsonSchema.required = [...required, 'text']
}

/** @param {PublishedSchema} published @param {boolean} isPrinted @returns {Promise<string>} */
async function schemaText({ name, version, title, description, schema }, isPrinted) {
  const { $schema, ...rest } = isPrinted
    ? z.toJSONSchema(schema, { io: 'output', override: asPrinted })
    : // What a reader accepts: fields with a default may be left out.
      z.toJSONSchema(schema, { io: 'input' })
  const about = {
    $schema,
    $id: `urn:kernel-ladder:${name}${version === null ? '' : `:${version}`}`,
    title: `Kernel Ladder: ${title}${version === null ? '' : `, schema ${version}`}`,
    description,
  }
  return formatted(`${name}.json`, JSON.stringify({ ...about, ...rest }))
}

/**
 * The schemas by file name in docs/schemas.
 * @param {typeof import('../../src-main/hosts/cli/documents/index.ts')} documents
 * @returns {Promise<Map<string, string>>}
 */
export async function publishedSchemas({ printedDocuments, readFiles }) {
  const all = [
    ...printedDocuments.map((one) => ({ one, isPrinted: true })),
    ...readFiles.map((one) => ({ one, isPrinted: false })),
  ]
  return new Map(
    await Promise.all(
      all.map(
        async ({ one, isPrinted }) =>
          /** @type {const} */ ([`${one.name}.json`, await schemaText(one, isPrinted)]),
      ),
    ),
  )
}
