/**
 * A Vite plugin that preloads the scripts and styles of the first screen together with the entry
 * script.
 */
import type { Plugin, Rolldown } from 'vite'

type Chunk = Rolldown.OutputChunk & { viteMetadata?: { importedCss: Set<string> } }

/**
 * @param wanted ends of module paths; their chunks and the imports of these chunks are preloaded
 */
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
        // A chunk's imports come before the chunk, because their styles must load first.
        const found: Chunk[] = []
        const visit = (chunk: Chunk | undefined): void => {
          // Skip the imports of the entry script, because Vite already lists them.
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
