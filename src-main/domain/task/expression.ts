/**
 * Parses and evaluates arithmetic expressions over named numbers, such as shapes in a task and lab
 * answers that depend on the reader's GPU. Supports numbers, names, `+ - * / %`, parentheses and a
 * few functions. Expressions are never executed as JavaScript.
 */

export type Expression = Readonly<
  | { kind: 'number'; value: number }
  | { kind: 'name'; name: string }
  | { kind: 'negate'; of: Expression }
  | { kind: 'binary'; operator: BinaryOperator; left: Expression; right: Expression }
  | { kind: 'call'; function: FunctionName; parameters: readonly Expression[] }
>

type BinaryOperator = '+' | '-' | '*' | '/' | '%'

const functions = {
  ceil: { parameters: [1, 1], of: ([x = NaN]) => Math.ceil(x) },
  floor: { parameters: [1, 1], of: ([x = NaN]) => Math.floor(x) },
  round: { parameters: [1, 1], of: ([x = NaN]) => Math.round(x) },
  abs: { parameters: [1, 1], of: ([x = NaN]) => Math.abs(x) },
  sqrt: { parameters: [1, 1], of: ([x = NaN]) => Math.sqrt(x) },
  log2: { parameters: [1, 1], of: ([x = NaN]) => Math.log2(x) },
  pow: { parameters: [2, 2], of: ([x = NaN, y = NaN]) => x ** y },
  min: { parameters: [1, 16], of: (all) => Math.min(...all) },
  max: { parameters: [1, 16], of: (all) => Math.max(...all) },
} as const satisfies Record<
  string,
  { parameters: readonly [number, number]; of: (parameters: readonly number[]) => number }
>
type FunctionName = keyof typeof functions
const functionNames = Object.keys(functions) as FunctionName[]

/** A syntax error. The error message includes the position, counted in characters from 1. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

interface Token {
  kind: 'number' | 'name' | 'sign' | 'end'
  text: string
  /** Position of the error, counted from 1. */
  at: number
}

/** Maximum length of an expression. The limit also bounds the depth of the parser's recursion. */
const maxLength = 500

function tokens(text: string): Token[] {
  if (text.length > maxLength)
    throw new ExpressionError(`It is longer than ${maxLength} characters.`)
  const found: Token[] = []
  const pattern =
    /\s+|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z]\w*(?:\.[A-Za-z]\w*)?)|(?<sign>[-+*/%(),])|(?<other>[\s\S])/gy
  for (const match of text.matchAll(pattern)) {
    const at = match.index + 1
    const groups = match.groups ?? {}
    if (groups.other !== undefined)
      throw new ExpressionError(`Character ${at}, ${JSON.stringify(groups.other)}, is unexpected.`)
    if (groups.number !== undefined && !Number.isFinite(Number(groups.number)))
      throw new ExpressionError(`Character ${at}: the number is too large.`)
    for (const kind of ['number', 'name', 'sign'] as const)
      if (groups[kind] !== undefined) found.push({ kind, text: groups[kind], at })
  }
  return [...found, { kind: 'end', text: '', at: text.length + 1 }]
}

/**
 * Maximum number of cached expressions. Formulas are cached because they are evaluated for every
 * problem of every ladder.
 */
const mostKnown = 1000
const known = new Map<string, Expression>()

/**
 * Parses an expression without resolving its names. Throws an ExpressionError for invalid syntax.
 */
export function parseExpression(text: string): Expression {
  const parsed = known.get(text) ?? parse(text)
  if (known.size >= mostKnown) known.clear()
  known.set(text, parsed)
  return parsed
}

function parse(text: string): Expression {
  const rest = tokens(text)
  const next = (): Token => rest[0]!
  const take = (sign: string): boolean => {
    if (next().kind !== 'sign' || next().text !== sign) return false
    rest.shift()
    return true
  }
  const fail = ({ kind, text: word, at }: Token): never => {
    throw new ExpressionError(
      kind === 'end'
        ? 'It ends where a value is expected.'
        : `Character ${at}, ${JSON.stringify(word)}, is unexpected.`,
    )
  }
  const expectSign = (sign: string): void => {
    if (!take(sign)) fail(next())
  }

  const chain = (operators: readonly BinaryOperator[], operand: () => Expression): Expression => {
    let left = operand()
    for (;;) {
      const operator = operators.find((candidate) => take(candidate))
      if (!operator) return left
      left = { kind: 'binary', operator, left, right: operand() }
    }
  }
  const sum = (): Expression => chain(['+', '-'], product)
  const product = (): Expression => chain(['*', '/', '%'], signed)
  const signed = (): Expression => (take('-') ? { kind: 'negate', of: signed() } : single())
  const single = (): Expression => {
    if (take('(')) {
      const inner = sum()
      expectSign(')')
      return inner
    }
    const token = next()
    if (token.kind === 'number') {
      rest.shift()
      return { kind: 'number', value: Number(token.text) }
    }
    if (token.kind !== 'name') return fail(token)
    rest.shift()
    return take('(') ? call(token) : { kind: 'name', name: token.text }
  }
  const call = ({ text: name, at }: Token): Expression => {
    const called = functionNames.find((candidate) => candidate === name)
    if (!called)
      throw new ExpressionError(
        `Character ${at}: there is no function ${name}; the functions are ${functionNames.join(', ')}.`,
      )
    const parameters = [sum()]
    while (take(',')) parameters.push(sum())
    expectSign(')')
    const [least, most] = functions[called].parameters
    if (parameters.length < least || parameters.length > most)
      throw new ExpressionError(
        `Character ${at}: ${name} takes ${least === most ? least : `${least} to ${most}`}, not ${parameters.length}.`,
      )
    return { kind: 'call', function: called, parameters }
  }

  const whole = sum()
  if (next().kind !== 'end') fail(next())
  return whole
}

const comparisons = {
  '==': (left: number, right: number) => left === right,
  '!=': (left: number, right: number) => left !== right,
  '<=': (left: number, right: number) => left <= right,
  '>=': (left: number, right: number) => left >= right,
  '<': (left: number, right: number) => left < right,
  '>': (left: number, right: number) => left > right,
}

/** A comparison of two expressions, such as `T % 128 == 0`. */
export interface Constraint {
  left: Expression
  operator: keyof typeof comparisons
  right: Expression
}

/** Parses a constraint. Throws an ExpressionError for invalid syntax. */
export function parseConstraint(text: string): Constraint {
  const [, left = '', operator] = /^(.*?)([=!<>]=|[<>])/s.exec(text) ?? []
  if (operator === undefined)
    throw new ExpressionError(
      `It compares nothing; write it with one of ${Object.keys(comparisons).join(' ')}.`,
    )
  // Pad with leading spaces so that error positions are relative to the whole text.
  const right =
    ' '.repeat(left.length + operator.length) + text.slice(left.length + operator.length)
  return {
    left: parseExpression(left),
    operator: operator as Constraint['operator'],
    right: parseExpression(right),
  }
}

/** Returns whether a constraint is satisfied, or null if either side has no value. */
export function holds(
  { left, operator, right }: Constraint,
  valueOf: (name: string) => number | null,
): boolean | null {
  const [a, b] = [evaluate(left, valueOf), evaluate(right, valueOf)]
  return a === null || b === null ? null : comparisons[operator](a, b)
}

/** Returns the distinct names in an expression. */
export function namesIn(expression: Expression): string[] {
  const visit = (part: Expression): string[] => {
    switch (part.kind) {
      case 'number':
        return []
      case 'name':
        return [part.name]
      case 'negate':
        return visit(part.of)
      case 'binary':
        return [...visit(part.left), ...visit(part.right)]
      case 'call':
        return part.parameters.flatMap(visit)
    }
  }
  return [...new Set(visit(expression))]
}

function operate(operator: BinaryOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
  }
}

/**
 * Returns the value of an expression. Returns null if a name has no value or the result is not
 * finite.
 */
export function evaluate(
  expression: Expression,
  valueOf: (name: string) => number | null,
): number | null {
  const visit = (part: Expression): number => {
    switch (part.kind) {
      case 'number':
        return part.value
      case 'name':
        return valueOf(part.name) ?? NaN
      case 'negate':
        return -visit(part.of)
      case 'binary':
        return operate(part.operator, visit(part.left), visit(part.right))
      case 'call':
        return functions[part.function].of(part.parameters.map(visit))
    }
  }
  const value = visit(expression)
  return Number.isFinite(value) ? value : null
}
