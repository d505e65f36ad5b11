// @ts-check
/** Statements in the CLI's JSON documents. */

/** @typedef {string | { text: string }} Statement */

/** Its English text. @param {Statement} statement */
export const told = (statement) => (typeof statement === 'string' ? statement : statement.text)
