/**
 * Arithmetic over named numbers, for questions whose answer depends on the reader's own GPU: numbers,
 * names, `+ - * / %`, parentheses and a few functions. It is parsed here and never handed to JavaScript.
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

/** Why a text is not an expression, as a sentence with the position (characters counted from 1). */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

interface Token {
  kind: 'number' | 'name' | 'sign' | 'end'
  text: string
  /** Counted from 1. */
  at: number
}

/** Longer expressions are not meant for people; the limit also bounds the parser's depth. */
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

/** Texts that were parsed, at most so many, because a task's formulas are evaluated for every problem of every ladder. */
const mostKnown = 1000
const known = new Map<string, Expression>()

/** Throws an ExpressionError. Names are not looked up. */
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

/** Two expressions and how their values compare: `T % 128 == 0`. */
export interface Constraint {
  left: Expression
  operator: keyof typeof comparisons
  right: Expression
}

/** Throws an ExpressionError. */
export function parseConstraint(text: string): Constraint {
  const [, left = '', operator] = /^(.*?)([=!<>]=|[<>])/s.exec(text) ?? []
  if (operator === undefined)
    throw new ExpressionError(
      `It compares nothing; write it with one of ${Object.keys(comparisons).join(' ')}.`,
    )
  // Spaces keep the positions in messages those of the whole text.
  const right =
    ' '.repeat(left.length + operator.length) + text.slice(left.length + operator.length)
  return {
    left: parseExpression(left),
    operator: operator as Constraint['operator'],
    right: parseExpression(right),
  }
}

/** Whether it holds; null if one of its sides has no value. */
export function holds(
  { left, operator, right }: Constraint,
  valueOf: (name: string) => number | null,
): boolean | null {
  const [a, b] = [evaluate(left, valueOf), evaluate(right, valueOf)]
  return a === null || b === null ? null : comparisons[operator](a, b)
}

/** The distinct names in it. */
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

/** The value, or null if a name has no value or the result is not a finite number. */
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
