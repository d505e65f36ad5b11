/** What a rung's source says about its compile-time parameters. */
export { parseRule, rulesOf } from '../../parsers/kernels/integer-constants'

/** Whether a source or header mentions the macro, outside of comments. */
export const mentionsMacro = (texts: Iterable<string>, name: string): boolean =>
  [...texts].some((text) =>
    new RegExp(`\\b${name}\\b`).test(text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ')),
  )
