/** Parses demangled kernel names, and shortens them for display. */
import { functorsOf, tellingArguments } from './functors'
import { closingOf, findOutside } from './name-brackets'

interface KernelName {
  /** Name with namespaces but without return type, such as `at::native::reduce_kernel`. */
  path: string
  /** Last part of `path`, such as `reduce_kernel`. Never empty. */
  base: string
  /**
   * Template arguments without the angle brackets, such as `512, 1, ReduceOp<float>`; null if the
   * kernel is not a template instance.
   */
  template: string | null
  /**
   * Parameter types without the parentheses, such as `const float *, int`; null for names without
   * parameter types, as for `extern "C"`.
   */
  parameters: string | null
}

/** Notations that nvcc and GCC use for an unnamed namespace or type. */
const unnamed = /<unnamed>|\(anonymous namespace\)|\{anonymous\}/g

const namespaceWord = 'unnamed'

/**
 * Removes casts in template arguments: `tile<(int)32, (ns::Kind)1>` becomes `tile<32, 1>`. ncu
 * prints names with and without casts.
 */
export const withoutCasts = (name: string): string =>
  name.replaceAll(/\([A-Za-z_][\w: ]*\)(?=-?\d)/g, '')

/**
 * Parses a name: `void ns::tile<32>(const float *)` has the parts `ns::tile`, `tile`, `32` and
 * `const float *`.
 */
export function parseKernelName(name: string): KernelName {
  const text = withoutCasts(name.trim()).replaceAll(unnamed, namespaceWord)
  const angle = findOutside(text, '<')
  const paren = findOutside(text, '(')
  const isTemplate = angle > 0 && (paren < 0 || angle < paren)
  const end = isTemplate ? angle : paren < 0 ? text.length : paren
  const path = text.slice(0, end).trim().split(/\s+/).at(-1) ?? ''
  const close = isTemplate ? closingOf(text, angle) : -1
  const from = text.indexOf('(', Math.max(close, end))
  return {
    path: path || namespaceWord,
    base: path.split('::').findLast((part) => part !== '') ?? namespaceWord,
    template: isTemplate ? text.slice(angle + 1, close).trim() : null,
    parameters: from < 0 ? null : text.slice(from + 1, closingOf(text, from)).trim(),
  }
}

/**
 * Shortens text by removing its middle, such as `CatArrayBatchedCopy<Op…, 2, 128>`. Template
 * arguments differ least in the middle.
 */
export function shortened(text: string, most: number): string {
  const letters = [...text]
  if (letters.length <= most) return text
  const tail = Math.floor((most - 1) / 2)
  return `${letters.slice(0, most - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`
}

/**
 * Returns a short kernel name such as `tile<32>`. If the template arguments are long, only numbers
 * and functors are kept.
 */
export function shortName(name: string, most = 60): string {
  const { base, template } = parseKernelName(name)
  if (template === null) return shortened(base, most)
  const told = tellingArguments(template).join(', ')
  const texts = [template, told, functorsOf(template).join(', ')].filter((text) => text !== '')
  const fitting = texts.map((text) => `${base}<${text}>`).find((text) => [...text].length <= most)
  if (fitting !== undefined) return fitting
  const room = most - [...base].length - 2
  const text = told || template
  return room < 8 ? shortened(`${base}<${text}>`, most) : `${base}<${shortened(text, room)}>`
}

/**
 * Returns a very short kernel name for lists. If a template's name is too long, only its functor is
 * kept.
 */
export function briefName(name: string, most = 36): string {
  const { base, template } = parseKernelName(name)
  const [functor] = template === null ? [] : functorsOf(template)
  if (functor === undefined) return shortName(name, most)
  // Wrapper functors only describe how a functor is applied, so keep the innermost name, which
  // describes the operation.
  const leaf = functor.split('<').at(-1)!.replaceAll('>', '')
  const fitting = [`${base}<${functor}>`, functor].find((text) => [...text].length <= most)
  return fitting ?? shortened(leaf, most)
}

type Extent = readonly [number, number, number] | null

/** Formats an extent such as `64×64` and omits trailing sizes of 1. */
export function extentText(extent: Extent): string {
  if (!extent) return '?'
  const sizes = [...extent]
  while (sizes.length > 1 && sizes.at(-1) === 1) sizes.pop()
  return sizes.join('×')
}

/**
 * Returns a distinct title for each kernel. If several kernels have the same name, their titles
 * also contain the grid and block, and a number if necessary.
 */
export function distinctTitles(
  kernels: readonly { name: string; grid: Extent; block: Extent }[],
): string[] {
  const withShapes = kernels.map(
    ({ name, grid, block }) =>
      `${shortName(name)}, grid ${extentText(grid)}, block ${extentText(block)}`,
  )
  const shapesOf = new Map<string, Set<string>>()
  for (const [index, { name }] of kernels.entries()) {
    const short = shortName(name)
    shapesOf.set(short, (shapesOf.get(short) ?? new Set()).add(withShapes[index]!))
  }
  const titles = kernels.map(({ name }, index) =>
    shapesOf.get(shortName(name))!.size > 1 ? withShapes[index]! : shortName(name),
  )
  const total = new Map<string, number>()
  for (const title of titles) total.set(title, (total.get(title) ?? 0) + 1)
  const seen = new Map<string, number>()
  return titles.map((title) => {
    if (total.get(title) === 1) return title
    const number = (seen.get(title) ?? 0) + 1
    seen.set(title, number)
    return `${title} #${number}`
  })
}
