// @ts-check
/** Generates the published JSON schemas from the zod schemas of the same documents. */
import { z } from 'zod'
import { formatted } from './document.mjs'

/** @typedef {import('../../src-main/hosts/cli/documents/document.ts').PublishedSchema} PublishedSchema */
/** @typedef {import('zod').z.core.JSONSchema.BaseSchema} JsonSchema */

const spoken = ['Message', 'Passage']

/**
 * Loosens the schema for printed documents. Later versions may add fields and messages, so objects
 * allow additional properties. Every message contains its English text.
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
    : // Use the input form, in which fields with a default are optional.
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
 * Returns the contents of docs/schemas by file name.
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
