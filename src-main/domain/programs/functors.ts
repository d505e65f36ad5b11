/** What a kernel template was instantiated to do: the functions and functors among its template arguments. */
import { closingOf, findOutside } from './name-brackets'

/** Types of elements and placeholders say what a kernel works on, not what it does. */
const elementType =
  /^(?:void|bool|char|short|int|long|signed|unsigned|size_t|double|half2?|half_t|u?int\d+(?:_t)?|\w*b?float(?:\d\w*)?|\w*complex|T\d*|__half2?)$/i

/** The parts of `a, b<c, d>, e` between the commas outside brackets. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let rest = text
  for (let at = findOutside(rest, ','); at >= 0; at = findOutside(rest, ',')) {
    parts.push(rest.slice(0, at).trim())
    rest = rest.slice(at + 1)
  }
  return [...parts, rest.trim()].filter((part) => part !== '')
}

/** `void at::impl<at::Mul<float>>(T1 &)::[lambda(int)]` → `impl<Mul>`; null for numbers, element types and containers. */
function functorOf(argument: string): string | null {
  const head = /^[^<([{]*/.exec(argument)![0]
  const path = head.replaceAll(/[*&]/g, ' ').trim().split(/\s+/).at(-1) ?? ''
  const name = path.split('::').findLast((part) => part !== '') ?? ''
  if (!/^[A-Za-z_]/.test(name) || elementType.test(name) || path.startsWith('std::')) return null
  if (name === 'true' || name === 'false') return null
  const inner =
    argument[head.length] === '<'
      ? functorsOf(argument.slice(head.length + 1, closingOf(argument, head.length)))
      : []
  return inner.length === 0 ? name : `${name}<${inner.join(', ')}>`
}

export const functorsOf = (template: string): string[] =>
  partsOf(template).flatMap((part) => functorOf(part) ?? [])

/** The same with the numbers, such as tile sizes, in their places. */
export const tellingArguments = (template: string): string[] =>
  partsOf(template).flatMap((part) => (/^-?\d/.test(part) ? part : (functorOf(part) ?? [])))
