// @ts-check
/** Provides helpers for statements in the CLI's JSON documents. */

/** @typedef {string | { text: string }} Statement */

/** Returns the English text of a statement. @param {Statement} statement */
export const told = (statement) => (typeof statement === 'string' ? statement : statement.text)
