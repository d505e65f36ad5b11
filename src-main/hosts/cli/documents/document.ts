/**
 * Defines JSON documents. Each document has a schema, a type, and a published form in docs/schemas.
 */
import { z } from 'zod'

export interface PublishedSchema {
  /** Document name, as in docs/schemas/<name>.json. */
  readonly name: string
  /** Document version, or null for an unversioned file. */
  readonly version: number | null
  readonly title: string
  readonly description: string
  readonly schema: z.ZodType
}

/**
 * A document that a command prints with `--json`. `fields` contains all fields except `schema`,
 * which is the version.
 */
export interface DocumentKind<
  Fields extends z.ZodRawShape = z.ZodRawShape,
> extends PublishedSchema {
  readonly version: number
  readonly fields: Fields
}

export type FieldsOf<Fields extends z.ZodRawShape> = z.output<z.ZodObject<Fields>>

export const documentKind = <Fields extends z.ZodRawShape>(
  kind: Omit<DocumentKind<Fields>, 'schema'>,
): DocumentKind<Fields> => ({
  ...kind,
  schema: z.object({ schema: z.literal(kind.version), ...kind.fields }),
})
