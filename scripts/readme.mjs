// @ts-check
/**
 * Writes what the README shows: the output of the recorded runs between its markers, and the pictures
 * of the UI over those recordings. `npm run readme`.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt } from './lib/build.mjs'
import { obtainChromium } from './lib/chromium.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { nodePath } from './lib/node.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')
const readme = join(root, 'README.md')

/** @param {string[]} args @returns {Promise<string>} */
function output(args) {
  return new Promise((done, failed) => {
    const child = spawn(nodePath(), [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    child.on('close', (code) => {
      if (code === 0) done(text)
      else failed(new PlainError(`kernel-ladder ${args.join(' ')} ended with exit code ${code}.`))
    })
  })
}

/** Replaces what stands between a marker's two comments. @param {string} text @param {string} name @param {string} block */
function between(text, name, block) {
  const pattern = new RegExp(`(<!-- ${name}:begin -->\n)[\\s\\S]*?(<!-- ${name}:end -->)`)
  if (!pattern.test(text)) throw new PlainError(`README.md has no markers named ${name}.`)
  return text.replace(pattern, (_all, begin, end) => `${begin}${block}\n${end}`)
}

async function writeFigures() {
  let text = readFileSync(readme, 'utf8')
  for (const [ladder, size] of [
    ['gemm-fp32', '4096'],
    ['gemm-fp32', '1024'],
    ['gemm-fp32-top', '4096'],
    ['gemm-tensor', '4096'],
    ['gemm-tensor', '8192'],
    ['gemm-3xtf32', '4096'],
  ]) {
    const shown = await output(['show', `recorded:${ladder}-h200-${size}`])
    const command = `node kernel-ladder.mjs run --ladder ${ladder} --size ${size} --profile card`
    text = between(
      text,
      `run-${ladder}-${size}`,
      `\n\`\`\`\n$ ${command}\n${shown.trimEnd()}\n\`\`\`\n`,
    )
  }
  writeFileSync(readme, text)
  say('Wrote the figures of README.md.')
}

async function takePictures() {
  const executablePath = await obtainChromium()
  const { chromium } = await import('playwright-core')
  const server = spawn(nodePath(), [program, 'serve'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const address = await new Promise((done) => {
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      const found = /(http:\S+)/.exec(chunk)?.[1]
      if (found) done(found)
    })
  })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  try {
    const page = await browser.newPage({
      viewport: { width: 1440, height: 860 },
      colorScheme: 'dark',
      reducedMotion: 'reduce',
    })
    await page.goto(address)
    const session = '#/session/recorded:gemm-fp32-h200-4096'
    for (const [name, route, ready] of [
      ['ladder', `${session}/ladder`, 'canvas'],
      ['compare', `${session}/compare/02_coalesced/03_shared_tile`, '.cm-line'],
    ]) {
      await page.goto(new URL(`/${route}`, address).href)
      await page
        .locator(/** @type {string} */ (ready))
        .first()
        .waitFor()
      await page.waitForTimeout(800)
      await page.screenshot({ path: join(root, `docs/images/${name}.png`) })
    }
    say('Took the pictures of README.md.')
  } finally {
    await browser.close()
    server.kill('SIGTERM')
  }
}

await runScript(async () => {
  await ensureInstalled()
  await ensureBuilt(['cli'])
  await writeFigures()
  await takePictures()
  return undefined
})
