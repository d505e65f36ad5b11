/**
 * Finds the functions and functors among a kernel's template arguments, which show what the kernel
 * computes.
 */
import { closingOf, findOutside } from './name-brackets'

/**
 * Element types, and placeholders such as `T1`. These types show a kernel's data type but not its
 * operation.
 */
const elementType =
  /^(?:void|bool|char|short|int|long|signed|unsigned|size_t|double|half2?|half_t|u?int\d+(?:_t)?|\w*b?float(?:\d\w*)?|\w*complex|T\d*|__half2?)$/i

/** Splits text such as `a, b<c, d>, e` at the commas outside brackets. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let rest = text
  for (let at = findOutside(rest, ','); at >= 0; at = findOutside(rest, ',')) {
    parts.push(rest.slice(0, at).trim())
    rest = rest.slice(at + 1)
  }
  return [...parts, rest.trim()].filter((part) => part !== '')
}

/**
 * Returns the functor of a template argument: `void at::impl<at::Mul<float>>(T1 &)::[lambda(int)]`
 * becomes `impl<Mul>`. Returns null for numbers, element types and containers.
 */
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

/** Returns the functors and numbers (such as tile sizes) of a template, in their original order. */
export const tellingArguments = (template: string): string[] =>
  partsOf(template).flatMap((part) => (/^-?\d/.test(part) ? part : (functorOf(part) ?? [])))
