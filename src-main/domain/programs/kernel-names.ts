/** Parses names of kernels as the compiler demangles them, and shortens them for display. */
import { functorsOf, tellingArguments } from './functors'
import { closingOf, findOutside } from './name-brackets'

interface KernelName {
  /** With its namespaces, without return type: `at::native::reduce_kernel`. */
  path: string
  /** The last part of it, `reduce_kernel`; never empty. */
  base: string
  /** Without the angle brackets: `512, 1, ReduceOp<float>`; null if it is no template. */
  template: string | null
  /** Without the parentheses: `const float *, int`; null if the name has none, as for `extern "C"`. */
  parameters: string | null
}

/** nvcc's and GCC's words for a namespace or a type without a name. */
const unnamed = /<unnamed>|\(anonymous namespace\)|\{anonymous\}/g

const namespaceWord = 'unnamed'

/** `tile<(int)32, (ns::Kind)1>` → `tile<32, 1>`: ncu prints template arguments either way. */
export const withoutCasts = (name: string): string =>
  name.replaceAll(/\([A-Za-z_][\w: ]*\)(?=-?\d)/g, '')

/** `void ns::tile<32>(const float *)` → `ns::tile`, `tile`, `32` and `const float *`. */
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

/** Shortens in the middle, where template arguments differ least: `CatArrayBatchedCopy<Op…, 2, 128>`. */
export function shortened(text: string, most: number): string {
  const letters = [...text]
  if (letters.length <= most) return text
  const tail = Math.floor((most - 1) / 2)
  return `${letters.slice(0, most - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`
}

/** `tile<32>`: what tells kernels apart at a glance. Of long template arguments, numbers and functors alone. */
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

/** For lists of kernels: without its shape, and of a template too long for that its functor alone. */
export function briefName(name: string, most = 36): string {
  const { base, template } = parseKernelName(name)
  const [functor] = template === null ? [] : functorsOf(template)
  if (functor === undefined) return shortName(name, most)
  // Wrappers around a functor say how it is applied, the innermost name what it does.
  const leaf = functor.split('<').at(-1)!.replaceAll('>', '')
  const fitting = [`${base}<${functor}>`, functor].find((text) => [...text].length <= most)
  return fitting ?? shortened(leaf, most)
}

type Extent = readonly [number, number, number] | null

/** `64×64`: without the sizes of 1 at its end. */
export function extentText(extent: Extent): string {
  if (!extent) return '?'
  const sizes = [...extent]
  while (sizes.length > 1 && sizes.at(-1) === 1) sizes.pop()
  return sizes.join('×')
}

/** A title for each kernel; those of the same name are told apart by grid and block, then by number. */
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
