/** What of a program is worth profiling, from the times of a preview. Pure. */
import type { ProfiledKernel } from '../session/session'

// Names of kernels as the compiler demangles them, taken apart. Pure.

export interface KernelName {
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

const opening = '<([{'
const closing = '>)]}'

/** Where the bracket that opens at `start` closes; the end of the text if it does not. */
function closingOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    if (opening.includes(text[at]!)) depth += 1
    // `->` and comparisons in template arguments are no brackets.
    else if (closing.includes(text[at]!) && text[at - 1] !== '-') depth -= 1
    if (depth === 0) return at
  }
  return text.length
}

/** The first place outside brackets where a character of `wanted` is; -1 if there is none. */
function findOutside(text: string, wanted: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (wanted.includes(text[at]!)) return at
    if (opening.includes(text[at]!)) at = closingOf(text, at)
  }
  return -1
}

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

/** `tile<32>`: what tells kernels apart at a glance, without namespaces and parameters. */
export function shortName(name: string, most = 60): string {
  const { base, template } = parseKernelName(name)
  if (template === null) return shortened(base, most)
  const room = most - [...base].length - 2
  return room < 8
    ? shortened(`${base}<${template}>`, most)
    : `${base}<${shortened(template, room)}>`
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

export interface PreviewLaunch extends Pick<ProfiledKernel, 'name' | 'grid' | 'block'> {
  range: string | null
  ms: number
}

/** A kernel of one name and shape, with all its launches. */
export interface PreviewKernel extends Pick<ProfiledKernel, 'name' | 'grid' | 'block'> {
  key: string
  /** The NVTX range of its first launch. */
  range: string | null
  launchesMs: number[]
  totalMs: number
}

/** ncu's table has casts before template arguments, its report has none. */
export const kernelKey = ({
  name,
  grid,
  block,
}: Pick<PreviewLaunch, 'name' | 'grid' | 'block'>): string =>
  JSON.stringify([withoutCasts(name), grid, block])

/** In the order of their first launches. */
export function previewKernels(launches: readonly PreviewLaunch[]): PreviewKernel[] {
  const kernels = new Map<string, PreviewKernel>()
  for (const { name, grid, block, range, ms } of launches) {
    const key = kernelKey({ name, grid, block })
    const kernel = kernels.get(key) ?? {
      ...{ key, name, grid, block, range },
      ...{ launchesMs: [], totalMs: 0 },
    }
    kernels.set(key, kernel)
    kernel.launchesMs.push(ms)
    kernel.totalMs += ms
  }
  return [...kernels.values()]
}

/** Most programs spend nearly all of their time in a few kernels. */
const worthShare = 0.95
const most = 20

/** The kernels that took 95 % of the GPU's time, at most 20, hottest first. */
export function hottest(kernels: readonly PreviewKernel[]): PreviewKernel[] {
  const total = kernels.reduce((sum, { totalMs }) => sum + totalMs, 0)
  const chosen: PreviewKernel[] = []
  let covered = 0
  for (const kernel of [...kernels].sort((a, b) => b.totalMs - a.totalMs)) {
    if (chosen.length === most || (chosen.length > 0 && covered >= worthShare * total)) break
    chosen.push(kernel)
    covered += kernel.totalMs
  }
  return chosen
}

/** The function's name as ncu filters by it. */
export const functionOf = (name: string): string => parseKernelName(name).base

export interface Window {
  /** Launches that match, counted from the first one. */
  skip: number
  count: number
}

/**
 * The shortest run of launches that has one of each wanted kernel: of a program that repeats itself, one round.
 * null if there is none.
 */
export function shortestWindow(
  launches: readonly PreviewLaunch[],
  wanted: ReadonlySet<string>,
): Window | null {
  const keys = launches.map(kernelKey)
  const inside = new Map<string, number>()
  let best: Window | null = null
  let first = 0
  for (const [last, key] of keys.entries()) {
    if (wanted.has(key)) inside.set(key, (inside.get(key) ?? 0) + 1)
    while (inside.size === wanted.size && first <= last) {
      const count = last - first + 1
      if (best === null || count < best.count) best = { skip: first, count }
      const gone = keys[first]!
      first += 1
      const left = inside.get(gone)
      if (left === undefined) continue
      if (left > 1) inside.set(gone, left - 1)
      else inside.delete(gone)
    }
  }
  return best
}
