// @ts-check
/** Statements in the CLI's JSON documents. */

/** @typedef {string | { text: string }} Statement */

/** Returns the English text. @param {Statement} statement */
export const told = (statement) => (typeof statement === 'string' ? statement : statement.text)
