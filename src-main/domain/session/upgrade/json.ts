/** Functions for JSON values before schema validation. Pure. */
export type Json = unknown
export type JsonRecord = Record<string, unknown>

export const isRecord = (value: Json): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Applies `change` to each object in a list. Other elements, and values that are not lists, do not
 * change.
 */
export const eachRecord = (value: Json, change: (record: JsonRecord) => JsonRecord): Json =>
  Array.isArray(value) ? value.map((one: Json) => (isRecord(one) ? change(one) : one)) : value

/** Returns the record with one field changed, if the field is present. */
export const withPart = (
  record: JsonRecord,
  key: string,
  change: (value: Json) => Json,
): JsonRecord => (Object.hasOwn(record, key) ? { ...record, [key]: change(record[key]) } : record)
