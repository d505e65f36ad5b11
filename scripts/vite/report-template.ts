/**
 * A Vite plugin that combines the single script and style sheet of a build in one file,
 * template.html.
 *
 * The file is a page followed by the script. To keep reports small, the report service compresses
 * the script into the page (services/report/html.ts). A short loader in the page unpacks the
 * script. The template stores the script uncompressed. Much of the script's code is also in the UI,
 * so the program's archive compresses both together. The page's content security policy lists the
 * loader, the script and the style sheet by hash. Code that is not listed cannot run or load, even
 * if a session contains it. `<!--report-title-->` and `<!--report-data-->` are placeholders.
 */
import { createHash } from 'node:crypto'
import type { Plugin } from 'vite'

const sha256 = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * Insert the code as a script element, because the browser checks the element's hash. The browser
 * would not check the hash of code from eval or a blob URL.
 */
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
