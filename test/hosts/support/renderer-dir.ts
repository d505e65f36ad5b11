import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const indexHtml = '<!doctype html><title>Kernel Ladder</title><div id="app"></div>'
export const script = `console.log(${JSON.stringify('ladder '.repeat(400))})\n`
export const secret = 'nobody may read this'

/** A built UI, with a file beside it and links to that, which no request may reach. */
export function createRendererDir(): { dir: string; remove(): void } {
  const base = mkdtempSync(join(tmpdir(), 'kl-host-'))
  const dir = join(base, 'renderer')
  mkdirSync(join(dir, 'assets'), { recursive: true })
  mkdirSync(join(base, 'renderer-other'))
  writeFileSync(join(base, 'secret.txt'), secret)
  writeFileSync(join(base, 'renderer-other', 'secret.txt'), secret)
  writeFileSync(join(dir, 'index.html'), indexHtml)
  writeFileSync(join(dir, 'assets', 'index-Ab3_x-9Z.js'), script)
  writeFileSync(join(dir, 'assets', 'index-Ab3_x-9Z.css'), 'body { margin: 0 }')
  writeFileSync(join(dir, 'assets', 'plain.js'), 'export {}')
  writeFileSync(join(dir, 'tool-12345678.js'), 'export {}')
  writeFileSync(join(dir, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(dir, 'font.woff2'), Buffer.alloc(5000, 7))
  writeFileSync(join(dir, 'strange.xyz'), 'bytes')
  writeFileSync(join(dir, '.env.txt'), secret)
  symlinkSync(join(base, 'secret.txt'), join(dir, 'link.txt'))
  symlinkSync(join(base, 'renderer-other'), join(dir, 'linked'))
  symlinkSync(join(dir, 'logo.svg'), join(dir, 'alias.svg'))
  return { dir, remove: () => rmSync(base, { recursive: true, force: true }) }
}
