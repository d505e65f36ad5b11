/** Vite's plugins of this project: YAML as values, what is packed beside the code, the emulator's worker, and pages of one file. */
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { type Plugin, type Rolldown, build } from 'vite'
import { packedFolders } from './lib/project.mjs'

// Imports a YAML file as the value it holds, so that a page needs no parser.

export const yamlModules = (): Plugin => ({
  name: 'kernel-ladder:yaml',
  transform: {
    filter: { id: /\.yaml$/ },
    handler: (source) => ({
      code: `export default ${JSON.stringify(parse(source))}`,
      map: null,
      moduleType: 'js',
    }),
  },
})

/** JavaScript of the same meaning in ASCII alone: other characters stand in strings, patterns and comments, where they can be escaped. */
export const asAscii = (code: string): string =>
  code.replaceAll(
    // Code unit by code unit, so that a pair becomes two escapes.
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** One character beyond Latin makes V8 keep the whole of a source in two bytes a character: 10 MB more for the one-file program. */
export const asciiOnly = (): Plugin => ({
  name: 'kernel-ladder:ascii',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle))
      if (part.type === 'chunk') part.code = asAscii(part.code)
  },
})

// The page names the scripts and styles of the first screen, so that a browser fetches them together with
// its entry and not when the entry, and then the program, have come to asking for them.

type Chunk = Rolldown.OutputChunk & { viteMetadata?: { importedCss: Set<string> } }

/** @param wanted how the path of the module ends whose chunk, and what it imports, is preloaded */
export function preloadFirstScreen(wanted: readonly string[]): Plugin {
  return {
    name: 'preload-first-screen',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle, chunk: entry }) {
        const chunks = Object.values(bundle ?? {}).filter(
          (file): file is Chunk => file.type === 'chunk',
        )
        const seen = new Set<Chunk>()
        // What a chunk imports comes before it, as its styles must.
        const found: Chunk[] = []
        const visit = (chunk: Chunk | undefined): void => {
          // Vite names what the entry itself imports.
          const known = chunk && (chunk === entry || entry?.imports.includes(chunk.fileName))
          if (!chunk || known || seen.has(chunk)) return
          seen.add(chunk)
          for (const name of chunk.imports) visit(chunks.find(({ fileName }) => fileName === name))
          found.push(chunk)
        }
        for (const end of wanted) {
          const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(end)))
          if (!chunk) throw new Error(`No chunk has a module whose path ends with ${end}.`)
          visit(chunk)
        }
        const styles = new Set(
          [...found].flatMap((one) => [...(one.viteMetadata?.importedCss ?? [])]),
        )
        const link = (rel: string, file: string) => ({
          tag: 'link',
          attrs: { rel, crossorigin: true, href: `/${file}` },
          injectTo: 'head' as const,
        })
        return [
          ...found.map(({ fileName }) => link('modulepreload', fileName)),
          ...[...styles].map((file) => link('stylesheet', file)),
        ]
      },
    },
  }
}

// The virtual module `virtual:emulator-worker`: the emulator's worker thread, bundled into one script, compressed and
// unpacked by the first that needs one. So the command-line program stays one file, and tests and the desktop program
// start the very same worker. Its text is the value of a call: a bundler would write out a constant at each use.

const workerId = 'virtual:emulator-worker'
const entry = 'src-main/adapters/emulator/worker.ts'

async function bundled(root: string): Promise<string> {
  const made = (await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      target: 'node20',
      minify: false,
      write: false,
      rolldownOptions: {
        output: {
          format: 'cjs',
          codeSplitting: false,
          // Names stay, for stack traces.
          minify: { compress: false, mangle: false, codegen: true },
        },
      },
    },
  })) as Rolldown.RolldownOutput
  return made.output[0].code
}

export function emulatorWorker(options: { root: string }): Plugin {
  return {
    name: 'kernel-ladder:emulator-worker',
    resolveId: (id) => (id === workerId ? `\0${workerId}` : undefined),
    async load(id) {
      if (id !== `\0${workerId}`) return undefined
      this.addWatchFile(join(options.root, entry))
      const packed = gzipSync(await bundled(options.root), { level: 9 }).toString('base64')
      return [
        `import { gunzipSync } from 'node:zlib'`,
        `let code`,
        `export default () => (code ??= gunzipSync(Buffer.from('${packed}', 'base64')).toString('utf8'))`,
      ].join('\n')
    },
  }
}

// The virtual module `virtual:kernel-ladder-assets`: the files that the command-line program needs besides
// its code, so that a single copied file can run ladders, replay recordings and serve the UI.
//
// Its default export is `null` (tests, the desktop build: files are read in place) or `{ hash }`, and then the last line
// of the program is a comment, out of the way of whatever compiles the code before it: `//` and, in base64, a Brotli
// stream of an archive in this format:
//
//     4 bytes   length of the index in bytes, unsigned, little endian
//     index     JSON in UTF-8: [{ "path": "cuda-kernels/gemm/01_naive.cu", "size": 1234, "brotli": false }, …]
//     contents  every file's bytes, concatenated in index order
//
// `path` is relative to the repository root, with `/`; paths are sorted. The content of a file with `brotli` is stored
// unpacked, and packed again when it is written: one stream for all recordings is smaller than one for each. `hash` is the SHA-256 of the
// archive before compression, in hex: equal content has an equal hash, so it can name the folder that the
// archive is unpacked into.

const moduleId = 'virtual:kernel-ladder-assets'

/** Profiler reports are large, and their numbers are already in the recording's raw output. */
const isLeftOut = (path: string): boolean => /\.(ncu-rep|map)$|(^|\/)\.[^/]*$/.test(path)

/** Sessions of recordings, and the two builds of the UI, repeat each other beyond gzip's window; this window spans them. */
const compression = {
  [constants.BROTLI_PARAM_QUALITY]: 9,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
}

export interface AssetPack {
  hash: string
  base64: string
}

export interface PackedFile {
  path: string
  /** The content, unpacked if the file is a Brotli stream. */
  bytes: Uint8Array
  brotli: boolean
}

function readPacked(root: string, path: string): PackedFile {
  const bytes = readFileSync(join(root, path))
  const brotli = path.endsWith('.br')
  return { path, bytes: brotli ? brotliDecompressSync(bytes) : bytes, brotli }
}

export function collectAssets(
  root: string,
  folders: readonly string[] = packedFolders,
): PackedFile[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(root.length + 1)
            .replaceAll('\\', '/'),
        ),
    )
    .filter((path) => !isLeftOut(path))
    .sort()
    .map((path) => readPacked(root, path))
}

export function packAssets(files: readonly PackedFile[]): AssetPack {
  const index = Buffer.from(
    JSON.stringify(files.map(({ path, bytes, brotli }) => ({ path, size: bytes.length, brotli }))),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(index.length)
  const archive = Buffer.concat([length, index, ...files.map(({ bytes }) => bytes)])
  return {
    hash: createHash('sha256').update(archive).digest('hex'),
    base64: brotliCompressSync(archive, { params: compression }).toString('base64'),
  }
}

export function assetPack(options: { root: string; embed: boolean }): Plugin {
  let lastLine = ''
  return {
    name: 'kernel-ladder:asset-pack',
    enforce: 'post',
    resolveId: (id) => (id === moduleId ? `\0${moduleId}` : undefined),
    load(id) {
      if (id !== `\0${moduleId}`) return undefined
      if (!options.embed) return 'export default null'
      if (!existsSync(join(options.root, 'out/renderer/index.html')))
        this.warn('The UI has not been built, so the program will not be able to serve it.')
      const { hash, base64 } = packAssets(collectAssets(options.root))
      lastLine = `\n//${base64}\n`
      return `export default { hash: '${hash}' }`
    },
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && chunk.isEntry) chunk.code += lastLine
    },
  }
}

// Puts a build's single script and style sheet into one file, template.html: a page, and behind it the script, which the
// report service compresses into the page (services/report/html.ts), to keep reports small; a short loader unpacks it there.
// Here it is left as it is, because much of it is in the UI too, and the program packs both together. The page's content security policy lists the loader, the
// script and the style sheet by hash, so that nothing else can run, whatever a session contains, and the
// page loads nothing. `<!--report-title-->` and `<!--report-data-->` are placeholders to fill in.

const sha256 = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Inserted as an element, the script is checked against its hash; eval and blob: URLs would not be. */
const loader = `(async () => {
  const say = (text) => { document.getElementById('app').textContent = text }
  if (!('DecompressionStream' in window)) return say('This report requires a browser from 2023 or later.')
  const packed = atob(document.getElementById('kernel-ladder-ui').textContent)
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  const script = document.createElement('script')
  script.textContent = await new Response(stream).text()
  document.body.append(script)
})().catch((error) => { document.getElementById('app').textContent = 'This report is damaged: ' + error })`

export function templatePage(script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${sha256(loader)} ${sha256(script)}`,
    `style-src ${sha256(style)}`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Kernel Ladder">
<link rel="icon" href="data:,">
<title><!--report-title--></title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<!--report-data-->
<script type="text/plain" id="kernel-ladder-ui"><!--report-ui--></script>
<script>${loader}</script>
</body>
</html>
<!--report-script-->${script}`
}

export function reportTemplate(): Plugin {
  return {
    name: 'kernel-ladder:report-template',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const text = (ending: string): string => {
        const names = Object.keys(bundle).filter((name) => name.endsWith(ending))
        const [name] = names
        const part = name === undefined ? undefined : bundle[name]
        if (name === undefined || part === undefined || names.length > 1)
          throw new Error(`A report needs one ${ending} file, but the build made ${names.length}.`)
        Reflect.deleteProperty(bundle, name)
        return part.type === 'chunk' ? part.code : String(part.source)
      }
      const [script, style] = [text('.js'), text('.css')]
      if (style.includes('</'))
        throw new Error('The style sheet contains "</", which would close its element.')
      const left = Object.keys(bundle)
      if (left.length > 0) throw new Error(`A report is one file, and there is ${left.join(', ')}.`)
      const source = templatePage(script, style)
      this.emitFile({ type: 'asset', fileName: 'template.html', source })
    },
  }
}
