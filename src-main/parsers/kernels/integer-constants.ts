/**
 * Parses C++ integer constant expressions over a rung's macros. Examples: `constexpr int kThreads =
 * BM / TM * BN;` and `static_assert(kThreads <= 1024, "…")`. Other expressions (templates, calls,
 * casts) are left to the compiler.
 */

/**
 * Evaluates a constant. Returns NaN if the value is undefined in C++, as in a division by zero or
 * for an undefined name.
 */
type Constant = (values: Readonly<Record<string, number>>) => number

interface ConstantExpression {
  /** Names of the macros and constants that the expression uses. */
  names: ReadonlySet<string>
  value: Constant
}

const tokenPattern =
  /\s+|(?<number>0[xX][\da-fA-F]+|\d+)[uUlL]*(?![\w.])|(?<name>[A-Za-z_]\w*)|(?<sign>\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%<>!~&|^?:()])/gy

/** C++ binary operators in order of precedence. The operators that bind tightest come last. */
const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
]

const binary: Record<string, (a: number, b: number) => number> = {
  '||': (a, b) => Number(a !== 0 || b !== 0),
  '&&': (a, b) => Number(a !== 0 && b !== 0),
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '&': (a, b) => a & b,
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>': (a, b) => Number(a > b),
  '>=': (a, b) => Number(a >= b),
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? NaN : Math.trunc(a / b)),
  '%': (a, b) => (b === 0 ? NaN : a % b),
}

const unary: Record<string, (a: number) => number> = {
  '-': (a) => -a,
  '+': (a) => a,
  '!': (a) => Number(a === 0),
  '~': (a) => ~a,
}

/**
 * Makes a result unknown if any operand is unknown, so that the known part of an expression cannot
 * decide a rule.
 */
const known =
  (of: (...operands: number[]) => number) =>
  (...operands: number[]): number =>
    operands.some(Number.isNaN) ? NaN : of(...operands)

/** Maximum nesting depth. Handwritten expressions are nested less deeply than this limit. */
const maxDepth = 50

/** Parses an integer constant expression. Returns null for any other text. */
export function parseConstant(text: string): ConstantExpression | null {
  const tokens: string[] = []
  const names = new Set<string>()
  let end = 0
  for (const match of text.matchAll(tokenPattern)) {
    end = match.index + match[0].length
    const word = match.groups?.number ?? match.groups?.name ?? match.groups?.sign
    if (word !== undefined) tokens.push(word)
  }
  if (end !== text.length || tokens.length === 0) return null
  let depth = 0
  const take = (sign: string): boolean => tokens[0] === sign && tokens.shift() !== undefined

  const ternary = (): Constant | null => {
    const condition = level(0)
    if (!condition || !take('?')) return condition
    const yes = ternary()
    if (!yes || !take(':')) return null
    const no = ternary()
    return (
      no &&
      ((values) => {
        const chosen = condition(values)
        return Number.isNaN(chosen) ? NaN : chosen === 0 ? no(values) : yes(values)
      })
    )
  }
  const level = (at: number): Constant | null => {
    const signs = levels[at]
    if (!signs) return prefix()
    let left = level(at + 1)
    while (left && tokens[0] !== undefined && signs.includes(tokens[0])) {
      const of = known(binary[tokens.shift()!]!)
      const [before, after] = [left, level(at + 1)]
      left = after && ((values) => of(before(values), after(values)))
    }
    return left
  }
  const prefix = (): Constant | null => {
    depth += 1
    if (depth > maxDepth) return null
    const operator = unary[tokens[0] ?? '']
    if (operator) {
      tokens.shift()
      const of = known(operator)
      const inner = prefix()
      return inner && ((values) => of(inner(values)))
    }
    if (take('(')) {
      const inner = ternary()
      return inner && take(')') ? inner : null
    }
    const word = tokens.shift()
    if (word === undefined) return null
    if (/^\d/.test(word)) {
      const value = Number(/^0\d/.test(word) ? `0o${word}` : word)
      return () => value
    }
    if (word === 'true' || word === 'false') return () => Number(word === 'true')
    if (!/^[A-Za-z_]/.test(word) || tokens[0] === '(') return null
    names.add(word)
    return (values) => (Object.hasOwn(values, word) ? values[word]! : NaN)
  }
  const value = ternary()
  return value && tokens.length === 0 ? { names, value } : null
}

/** A condition that the parameter values must satisfy. */
interface Rule {
  /** The condition as written in the source, on one line. */
  text: string
  /** The static_assert's message, or the condition if there is no message. */
  why: string
  /** The parameters on which the condition depends. */
  names: readonly string[]
  /**
   * Returns whether the values satisfy the condition. Returns true if the result is unknown,
   * because the compiler then decides.
   */
  holds: (values: Readonly<Record<string, number>>) => boolean
}

const ruleOf = (text: string, why: string, names: Iterable<string>, value: Constant): Rule => ({
  text,
  why,
  names: [...names],
  holds: (values) => value(values) !== 0,
})

/**
 * Parses a rule given by the user. Returns null if the text is not an expression over these
 * parameters.
 */
export function parseRule(text: string, parameters: ReadonlySet<string>): Rule | null {
  const parsed = parseConstant(text)
  if (!parsed || ![...parsed.names].every((name) => parameters.has(name))) return null
  return ruleOf(text.trim(), text.trim(), parsed.names, parsed.value)
}

const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"/g, (text) =>
    text.startsWith('"') ? text : ' ',
  )

/**
 * Returns the text between the bracket before `from` and the closing bracket, and the position
 * after the closing bracket. Returns null if there is no closing bracket.
 */
function bracketed(source: string, from: number): { inside: string; end: number } | null {
  let depth = 1
  for (let at = from; at < source.length; at += 1) {
    const sign = source[at]
    if (sign === '"') {
      const close = source.slice(at + 1).search(/(?<!\\)"/)
      if (close < 0) return null
      at += close + 1
    } else if (sign === '(') depth += 1
    else if (sign === ')') {
      depth -= 1
      if (depth === 0) return { inside: source.slice(from, at), end: at + 1 }
    }
  }
  return null
}

/** Splits a static_assert into the condition and the message. */
function splitAssert(inside: string): { condition: string; message: string | null } {
  const start = inside.search(/,\s*"/)
  if (start < 0) return { condition: inside, message: null }
  const message = [...inside.slice(start).matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .map(([, text = '']) => text)
    .join('')
  return { condition: inside.slice(0, start), message }
}

/**
 * Returns the rules about these parameters that a source states at file scope. The rules are
 * static_asserts whose constants have been substituted. Omits rules that depend on names other than
 * these parameters.
 */
export function rulesOf(source: string, parameters: ReadonlySet<string>): Rule[] {
  const text = withoutComments(source)
  /** Constants by name, as expressions over the parameters. */
  const constants = new Map<string, ConstantExpression>()
  const over = (parsed: ConstantExpression | null): ConstantExpression | null => {
    if (!parsed) return null
    const names = new Set<string>()
    const used: [string, ConstantExpression][] = []
    for (const name of parsed.names) {
      const constant = constants.get(name)
      if (parameters.has(name)) names.add(name)
      else if (constant) {
        used.push([name, constant])
        for (const inner of constant.names) names.add(inner)
      } else return null
    }
    if (used.length === 0) return { names, value: parsed.value }
    return {
      names,
      value: (values) =>
        parsed.value({
          ...values,
          ...Object.fromEntries(used.map(([name, { value }]) => [name, value(values)])),
        }),
    }
  }
  const rules: Rule[] = []
  const pattern =
    /\bstatic_assert\s*\(|\bconstexpr\s+(?:static\s+)?(?:const\s+)?(?:unsigned\s+)?(?:int|unsigned|long|size_t|bool)\s+([A-Za-z_]\w*)\s*=\s*([^;]*);/g
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [, name, value] = match
    if (name !== undefined && value !== undefined) {
      // A name that is declared twice, for example in two functions, has no single value.
      const constant = constants.has(name) ? null : over(parseConstant(value))
      if (constant) constants.set(name, constant)
      else constants.delete(name)
      continue
    }
    const found = bracketed(text, pattern.lastIndex)
    if (!found) break
    pattern.lastIndex = found.end
    const { condition, message } = splitAssert(found.inside)
    const parsed = over(parseConstant(condition))
    const shown = condition.replaceAll(/\s+/g, ' ').trim()
    if (parsed && parsed.names.size > 0)
      rules.push(ruleOf(shown, message ?? shown, parsed.names, parsed.value))
  }
  return rules
}
