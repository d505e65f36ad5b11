// @ts-check
/** The published JSON schema of session.json, from the zod schema that reads it. */
import { format } from 'prettier'
import { z } from 'zod'

/** @param {z.ZodType} session @param {number} version @returns {Promise<string>} */
export const sessionSchemaText = (session, version) =>
  format(
    JSON.stringify({
      title: `Kernel Ladder session, schema ${version}`,
      description:
        'session.json of a session folder, and what `kernel-ladder report --format json` writes. docs/SESSION-FORMAT.md tells what the fields mean.',
      // What a reader accepts: fields with a default may be left out.
      ...z.toJSONSchema(session, { io: 'input' }),
    }),
    { parser: 'json', printWidth: 100 },
  )
