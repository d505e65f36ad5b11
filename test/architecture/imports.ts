/** Reads the sources, and checks their import graph against each layer's rules. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { isBuiltin } from 'node:module'
import ts from 'typescript'

// Functions for rules about the source text that the import graph cannot express.

const root = new URL('../..', import.meta.url).pathname

export interface SourceFile {
  /** The file path relative to the repository root. */
  path: string
  text: string
}

/**
 * Returns whether a file is a test. Component tests are next to their components and are not part
 * of the program.
 */
export const isTest = (path: string): boolean => path.endsWith('.test.ts')

/** Returns the program's source files in the given folders. */
export const sourcesIn = (...folders: readonly string[]): SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|vue)$/.test(name) && !isTest(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  )

/** Returns each line that matches one of the patterns, with its file and line number. */
export const linesWith = (files: readonly SourceFile[], patterns: readonly RegExp[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        patterns.some((pattern) => pattern.test(line))
          ? [`${path}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  )

// Rules for imports between layers of the program. `readImports` reads the import graph from the
// sources. `violations` checks a graph without reading files, so that tests can pass invented
// graphs.

export interface Import {
  /** The importing file, relative to the repository root. */
  from: string
  /** The import specifier as written in the source. */
  specifier: string
  /** Whether the import is `import type`, `export type`, or `import('…')` in a type. */
  typeOnly: boolean
  /** Whether the import is an import() or require() call. */
  onDemand?: true
}

type Layer =
  | 'domain'
  | 'contract'
  | 'parsers'
  | 'adapters'
  | 'services'
  | 'hosts'
  | 'api'
  | 'preload'
  | 'renderer'
  | 'outside'

const mayImport: Record<Layer, readonly Layer[]> = {
  domain: [],
  contract: ['domain'],
  parsers: ['domain'],
  adapters: ['parsers', 'domain'],
  services: ['adapters', 'contract', 'domain'],
  hosts: ['services', 'adapters', 'parsers', 'contract', 'domain'],
  api: ['adapters', 'parsers', 'domain'],
  preload: ['contract'],
  renderer: ['contract', 'domain'],
  outside: [],
}

/**
 * Host kinds that each host may import in addition to `shared`. The CLI's `serve` command starts
 * the web host.
 */
const mayStart: Record<string, readonly string[]> = { cli: ['web', 'mcp'] }

/**
 * Owners of libraries and virtual modules: the only files or folders that may import them. A folder
 * ends in `/`.
 */
const owners: Record<string, readonly string[]> = {
  execa: ['src-main/adapters/tools/process.ts'],
  'fast-xml-parser': ['src-main/parsers/'],
  'csv-parse': ['src-main/parsers/'],
  '@bufbuild/protobuf': ['src-main/parsers/'],
  yaml: ['src-main/parsers/'],
  commander: ['src-main/hosts/cli/'],
  electron: ['src-main/hosts/electron/'],
  'virtual:emulator-worker': [
    'src-main/adapters/emulator/pool.ts',
    'src-main/adapters/sandbox/emulator-process.ts',
  ],
  '@modelcontextprotocol/server': ['src-main/hosts/mcp/'],
  open: ['src-main/adapters/tools/desktop.ts'],
  'virtual:kernel-ladder-assets': ['src-main/adapters/catalog/assets.ts'],
  echarts: ['src-renderer/charts/'],
  zrender: ['src-renderer/charts/'],
  'intl-messageformat': ['src-main/domain/messages/format.ts'],
  vue: ['src-renderer/'],
  pinia: ['src-renderer/'],
  'vue-router': ['src-renderer/'],
  'reka-ui': ['src-renderer/'],
}

/**
 * Layers with a complete list of allowed libraries. Other layers may import any library that has no
 * owner.
 */
const libraries: Partial<Record<Layer, readonly string[]>> = {
  domain: ['zod', 'intl-messageformat'],
  contract: ['zod'],
  api: [],
  preload: ['electron'],
}

/** The only Node built-ins that parsers may import. Parsers depend only on their arguments. */
const pureBuiltins = ['node:buffer', 'node:string_decoder', 'node:util', 'node:zlib']

const builtins: Record<Layer, 'any' | 'none' | 'pure'> = {
  domain: 'none',
  contract: 'none',
  parsers: 'pure',
  adapters: 'any',
  services: 'any',
  hosts: 'any',
  api: 'none',
  preload: 'none',
  renderer: 'none',
  outside: 'none',
}

function layerOf(path: string): Layer {
  if (path.startsWith('src-renderer/')) return 'renderer'
  if (/^src-main\/hosts\/electron\/preload(\.|\/)?/.test(path)) return 'preload'
  const name = /^src-main\/([^/]+)(?:\/|$)/.exec(path)?.[1]
  switch (name) {
    case 'domain':
    case 'contract':
    case 'parsers':
    case 'adapters':
    case 'services':
    case 'hosts':
    case 'api':
      return name
    default:
      return 'outside'
  }
}

const hostOf = (path: string): string | undefined => /^src-main\/hosts\/([^/]+)\//.exec(path)?.[1]

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

function judgeLibrary(one: Import, layer: Layer): string | undefined {
  if (isBuiltin(one.specifier)) {
    const name = one.specifier.startsWith('node:') ? one.specifier : `node:${one.specifier}`
    if (builtins[layer] === 'none') return `${layer} may not use Node (${name})`
    if (builtins[layer] === 'pure' && !pureBuiltins.includes(name))
      return `${layer} may not do input or output (${name})`
    return undefined
  }
  const library = packageOf(one.specifier)
  const owner = owners[library]
  if (owner !== undefined && !owner.some((path) => isWithin(one.from, path)))
    return `${library} is for ${owner.join(', ')} alone`
  const allowed = libraries[layer]
  if (allowed !== undefined && !allowed.includes(library))
    return `${layer} may not use the library ${library}`
  if (owner === undefined && /^[@~#](\/|$)|^virtual:/.test(one.specifier))
    return `${one.specifier} is no known module; imports within the source are relative`
  return undefined
}

const isWithin = (path: string, owner: string): boolean =>
  owner.endsWith('/') ? path.startsWith(owner) : path === owner

function judgeFile(one: Import, layer: Layer): string | undefined {
  const target = posix.join(posix.dirname(one.from), one.specifier.replace(/\?.*$/, ''))
  const targetLayer = layerOf(target)
  if (target === 'package.json' && builtins[layer] === 'any') return undefined
  if (targetLayer === 'outside') return `${target} lies outside of the source`
  if (targetLayer === layer) {
    const [own, other] = [hostOf(one.from), hostOf(target)]
    if (own === undefined || other === undefined || own === other || other === 'shared')
      return undefined
    return mayStart[own]?.includes(other)
      ? undefined
      : `the host ${own} may not import the host ${other}`
  }
  if (mayImport[layer].includes(targetLayer)) return undefined
  return `${layer} may not import ${targetLayer} (${target})`
}

/** Returns one error message per forbidden import. */
export function violations(imports: readonly Import[]): string[] {
  return imports.flatMap((one) => {
    const layer = layerOf(one.from)
    const fault =
      layer === 'outside'
        ? 'the file belongs to no layer'
        : one.specifier.startsWith('.')
          ? judgeFile(one, layer)
          : judgeLibrary(one, layer)
    return fault === undefined ? [] : [`${one.from}: ${fault}`]
  })
}

/**
 * Returns the unit that a file belongs to in the cycle check, and the folder that contains the
 * unit.
 */
function roomOf(path: string): { within: string; room: string } {
  const parts = path.split('/')
  const depth = path.startsWith('src-renderer/features/') ? 2 : path.startsWith('src-main/') ? 2 : 1
  return { within: parts.slice(0, depth).join('/'), room: parts.slice(0, depth + 1).join('/') }
}

/**
 * Returns the import graph between units, with the first import for each edge. A unit is a folder,
 * or a file next to folders.
 */
function roomGraph(imports: readonly Import[]): Map<string, Map<string, string>> {
  const graph = new Map<string, Map<string, string>>()
  for (const { from, specifier } of imports) {
    if (!specifier.startsWith('.')) continue
    const target = posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ''))
    let [own, other] = [roomOf(from), roomOf(target)]
    // For files outside the feature folders, all features together are one unit.
    const features = 'src-renderer/features'
    if (own.within === features && other.within === 'src-renderer')
      own = { within: 'src-renderer', room: features }
    if (other.within === features && own.within === 'src-renderer')
      other = { within: 'src-renderer', room: features }
    if (own.within !== other.within || own.room === other.room) continue
    const next = graph.get(own.room) ?? new Map<string, string>()
    if (!next.has(other.room)) next.set(other.room, `${from} imports ${target}`)
    graph.set(own.room, next)
  }
  return graph
}

/** Returns the cycles in a graph with labeled edges, as one line of text per cycle. */
function ringsOf(graph: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const walk = (node: string, path: readonly string[]): void => {
    const at = path.indexOf(node)
    if (at >= 0) {
      const ring = [...path.slice(at), node]
      const steps = ring.slice(1).map((next, index) => graph.get(ring[index]!)!.get(next)!)
      found.push(`${ring.join(' → ')}: ${steps.join('; ')}`)
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node)?.keys() ?? []) walk(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) walk(node, [])
  return found
}

/**
 * Returns the cycles between units of one layer. Each line of text lists the imports that close the
 * cycle.
 */
export const roomCycles = (imports: readonly Import[]): string[] => ringsOf(roomGraph(imports))

/**
 * Returns the import cycles between files. Type imports count as imports, but dynamic imports do
 * not.
 */
export function fileCycles(imports: readonly Import[]): string[] {
  const files = new Set(imports.map(({ from }) => from))
  const graph = new Map<string, Map<string, string>>()
  for (const { from, specifier, onDemand } of imports) {
    if (onDemand || !specifier.startsWith('.')) continue
    const target = posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ''))
    const file = [target, `${target}.ts`, `${target}/index.ts`].find((path) => files.has(path))
    if (file === undefined) continue
    const next = graph.get(from) ?? new Map<string, string>()
    next.set(file, `${from} imports ${file}`)
    graph.set(from, next)
  }
  return ringsOf(graph)
}

/** Returns the script code of a Vue component. A `src` attribute becomes an import. */
const vueScripts = (text: string): string =>
  [...text.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)]
    .map(([, attributes = '', body = '']) => {
      const src = /\bsrc=["']([^"']+)["']/.exec(attributes)?.[1]
      return src === undefined ? body : `import '${src}'`
    })
    .join('\n')

export function importsIn(from: string, text: string): Import[] {
  const source = ts.createSourceFile(
    from,
    from.endsWith('.vue') ? vueScripts(text) : text,
    { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
    false,
    ts.ScriptKind.TS,
  )
  const found: Import[] = []
  const add = (node: ts.Node | undefined, how: Pick<Import, 'typeOnly' | 'onDemand'>): void => {
    if (node !== undefined && ts.isStringLiteralLike(node))
      found.push({ from, specifier: node.text, ...how })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, {
        typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
      })
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, { typeOnly: node.isTypeOnly })
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, { typeOnly: true })
    else if (ts.isExternalModuleReference(node)) add(node.expression, { typeOnly: false })
    else if (
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword ||
        (ts.isIdentifier(node.expression) && node.expression.text === 'require'))
    )
      add(node.arguments[0], { typeOnly: false, onDemand: true })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

let known: Import[] | undefined

/**
 * Returns the imports of all sources. The sources are read once, and all tests share the result.
 */
export const readImports = (): readonly Import[] =>
  (known ??= ['src-main', 'src-renderer'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mts|vue|js|mjs)$/.test(name) && !isTest(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .flatMap((path) => importsIn(path, readFileSync(join(root, path), 'utf8'))),
  ))
