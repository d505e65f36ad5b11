/**
 * Finds the functions and kernel launches in a CUDA source text.
 *
 * This module is not a C++ parser. Macros are not expanded, and unrecognized code is skipped.
 */

import type { SourceFunction, SourceLaunch, SourceParameter } from '../../domain/proposal/source'

/**
 * Returns the text with comments, literals, and preprocessor lines replaced with spaces. All other
 * characters keep their positions.
 */
export function codeOnly(text: string): string {
  const blank = (part: string): string => part.replace(/[^\n]/g, ' ')
  return text
    .replace(
      /\/\/(?:\\\n|[^\n])*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\.|[^'\\\n]){1,4}'/g,
      (part) => (/^["']/.test(part) ? `"${blank(part.slice(1, -1))}"` : blank(part)),
    )
    .replace(/^[ \t]*#(?:\\\n|[^\n])*/gm, blank)
}

const closing: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' }

/**
 * Returns the position of the bracket that closes the bracket at `open`. Returns the end of the
 * text if there is no closing bracket.
 */
function closeOf(code: string, open: number): number {
  const stack: string[] = []
  for (let at = open; at < code.length; at++) {
    const sign = code[at]!
    if (closing[sign] !== undefined) stack.push(closing[sign])
    else if (sign === stack.at(-1)) {
      stack.pop()
      if (stack.length === 0) return at
    }
  }
  return code.length
}

/** Splits a list at commas outside brackets. A `<` is a bracket only if a matching `>` follows. */
export function splitList(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if ('([{<'.includes(sign)) depth++
    else if (')]}>'.includes(sign)) depth = Math.max(0, depth - 1)
    else if (sign === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== '')
}

function parameterOf(text: string): SourceParameter {
  const [declared = ''] = text.split(/=(?!=)/)
  const array = /\[[^\]]*\]\s*$/.test(declared.trim())
  const plain = declared.replace(/\[[^\]]*\]/g, '').trim()
  const [, type, name] = /^([\s\S]*?[\s*&>])(\w+)$/.exec(plain) ?? []
  const found = type === undefined ? plain : type.trim()
  return {
    type: found.replace(/\s+/g, ' '),
    name: name ?? null,
    isPointer: array || found.includes('*'),
  }
}

const attributes =
  /__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|__cluster_dims__\s*\([^()]*\)|__attribute__\s*\(\([^)]*\)\)|alignas\s*\([^)]*\)/g

/**
 * Returns the function name and parameters in the text that precedes a body. Returns null if the
 * text is not a function header.
 */
function headOf(
  head: string,
): Pick<SourceFunction, 'name' | 'isKernel' | 'isTemplate' | 'parameters'> | null {
  const text = head.replace(attributes, (part) => part.replace(/[^\n]/g, ' '))
  const isTemplate = /^\s*template\b/.test(text)
  const open = text.search(/[\w>]\s*\(/)
  if (open < 0) return null
  const at = text.indexOf('(', open)
  const close = closeOf(text, at)
  if (!/^\)\s*(?:const|noexcept|override)*\s*$/.test(text.slice(close))) return null
  const [, name] = /([\w:]+)\s*$/.exec(text.slice(0, at)) ?? []
  if (name === undefined || /^(?:if|for|while|switch|return)$/.test(name)) return null
  return {
    name: name.split('::').at(-1)!,
    isKernel: /\b__global__\b/.test(text),
    isTemplate,
    parameters: splitList(text.slice(at + 1, close))
      .filter((one) => one !== 'void')
      .map(parameterOf),
  }
}

const launchPattern = /([A-Za-z_][\w:]*)\s*(?:<[^;{}()]*>)?\s*<<<([\s\S]*?)>>>\s*\(/g

function launchesIn(body: string): SourceLaunch[] {
  return [...body.matchAll(launchPattern)].map((match) => {
    const open = match.index + match[0].length - 1
    return {
      kernel: match[1]!.split('::').at(-1)!,
      configuration: splitList(match[2]!),
      arguments: splitList(body.slice(open + 1, closeOf(body, open))),
    }
  })
}

/** Returns every function that is defined outside a class. */
export function sourceFunctions(text: string): SourceFunction[] {
  const code = codeOnly(text)
  const found: SourceFunction[] = []
  let start = 0
  for (let at = 0; at < code.length; at++) {
    const sign = code[at]!
    if (sign === ';' || sign === '}') start = at + 1
    else if (sign === '(') at = closeOf(code, at)
    else if (sign === '{') {
      const head = code.slice(start, at)
      start = at + 1
      if (/^\s*(?:inline\s+)?namespace\b[^()]*$|^\s*extern\s*"\s*"\s*$/.test(head)) continue
      const end = closeOf(code, at)
      const own = headOf(head)
      const body = code.slice(at + 1, end)
      if (own) found.push({ ...own, body, launches: launchesIn(body) })
      at = end
      start = end + 1
    }
  }
  return found
}
