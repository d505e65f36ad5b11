/** Rungs of ladders that ship and have been renamed: today's id by former id. */
export const formerIds: Readonly<Record<string, string>> = {}

/** The id that a rung has today. */
export const currentId = (id: string): string => formerIds[id] ?? id
