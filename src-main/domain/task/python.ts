/** Converts task values to C++ expressions for the generated sources around Python scripts. */
import { dtypeOf, dtypes, isDtype } from './dtype'
import { parseExpression, type Expression } from './expression'
import { type Formula, type Task, type TaskBuffer } from './task'

export const isPython = (file: string): boolean => file.endsWith('.py')

/**
 * Returns the C++ expression for a name. A size or scalar is a struct field; an option's byte count
 * is looked up by the number in the option's field.
 */
function named(task: Task, name: string): string {
  const [option, bytes] = name.split('.')
  if (bytes === undefined) return `double(p->${name})`
  const { field, choices } = task.options[option!]!
  const cases = Object.entries(choices).map(
    ([choice, number]) =>
      `p->${field} == ${number} ? ${isDtype(choice) ? dtypeOf(choice).bytes : 0}.0 : `,
  )
  return `(${cases.join('')}0.0)`
}

function cExpression(task: Task, part: Expression): string {
  const of = (inner: Expression): string => cExpression(task, inner)
  switch (part.kind) {
    case 'number':
      return `double(${part.value})`
    case 'name':
      return named(task, part.name)
    case 'negate':
      return `(-${of(part.of)})`
    case 'binary':
      return part.operator === '%'
        ? `std::fmod(${of(part.left)}, ${of(part.right)})`
        : `(${of(part.left)} ${part.operator} ${of(part.right)})`
    case 'call':
      return part.function === 'min' || part.function === 'max'
        ? `std::${part.function}({${part.parameters.map(of).join(', ')}})`
        : `${part.function === 'abs' ? 'std::fabs' : `std::${part.function}`}(${part.parameters.map(of).join(', ')})`
  }
}

export const extent = (task: Task, formula: Formula): string =>
  typeof formula === 'number' ? `${formula}.0` : cExpression(task, parseExpression(formula))

const byNumber = [...dtypes].sort((a, b) => dtypeOf(a).number - dtypeOf(b).number)

/** C++ tables of the element types, indexed by number and used by `typeOf`. */
export const kindTables: readonly string[] = [
  `static const char* const kNames[] = {${byNumber.map((dtype) => `"${dtype}"`).join(', ')}};`,
  `static const size_t kBytes[] = {${byNumber.map((dtype) => dtypeOf(dtype).bytes).join(', ')}};`,
]

/**
 * Returns C++ expressions for the name of a buffer's type and its bytes per element. An option may
 * determine the type.
 */
export function typeOf(task: Task, { dtype }: TaskBuffer): { word: string; bytes: string } {
  if (isDtype(dtype)) return { word: `"${dtype}"`, bytes: String(dtypeOf(dtype).bytes) }
  const { field } = task.options[dtype]!
  return { word: `kNames[p->${field}]`, bytes: `kBytes[p->${field}]` }
}
