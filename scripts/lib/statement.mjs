// @ts-check
/** Statements in the JSON documents of the command line. */

/** @typedef {string | { text: string }} Statement */

/** Its English. @param {Statement} statement */
export const told = (statement) => (typeof statement === 'string' ? statement : statement.text)
