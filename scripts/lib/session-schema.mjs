// @ts-check
/** The published JSON schemas of session.json, of ladder.yaml, of a lab's front matter and of a check against a baseline, from the zod schemas that read them. */
import { format } from 'prettier'
import { z } from 'zod'

/** @param {object} schema @returns {Promise<string>} */
export const ladderSchemaText = (schema) =>
  format(JSON.stringify(schema), { parser: 'json', printWidth: 100 })

/** @param {object} about @param {z.ZodType} schema @returns {Promise<string>} */
const schemaText = (about, schema) =>
  // What a reader accepts: fields with a default may be left out.
  format(JSON.stringify({ ...about, ...z.toJSONSchema(schema, { io: 'input' }) }), {
    parser: 'json',
    printWidth: 100,
  })

/** @param {z.ZodType} session @param {number} version @returns {Promise<string>} */
export const sessionSchemaText = (session, version) =>
  schemaText(
    {
      title: `Kernel Ladder session, schema ${version}`,
      description:
        'session.json of a session folder, and what `kernel-ladder report --format json` writes. docs/SESSION-FORMAT.md tells what the fields mean.',
    },
    session,
  )

/** @param {z.ZodType} lab @returns {Promise<string>} */
export const labSchemaText = (lab) =>
  schemaText(
    {
      title: 'Front matter of a Kernel Ladder lab',
      description:
        'The YAML at the top of lab.md. docs/LABS.md tells what the keys mean; `kernel-ladder lab validate` also looks at the rungs, metrics and files that they name.',
    },
    lab,
  )

/** @param {z.ZodType} document @param {number} version @returns {Promise<string>} */
export const ciSchemaText = (document, version) =>
  schemaText(
    {
      title: `Kernel Ladder check against a baseline, version ${version}`,
      description:
        'What `kernel-ladder report --ci --json` writes. docs/CI.md tells what it means.',
    },
    document,
  )
