/**
 * Runs the locally installed Chromium or Chrome in headless mode, to print documents and draw
 * charts.
 */
import { access, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { KernelLadderError, missingError } from '../../domain/errors'
import { message, together } from '../../domain/messages/message'
import { diskError } from '../disk/disk'
import { runProcess, type ProcessResult } from '../tools/process'
import { drawingAddress } from '../../domain/report/chart-drawings'
import { parseDrawnPage, type DrawnPage } from '../../parsers/report/drawn-page'
import { placesInPdf, stablePdf } from '../../parsers/report/pdf'

export interface PrintOptions {
  /**
   * Whether the PDF is a draft, which is used only to locate the headings. A draft omits tags and
   * the outline, which take half of the printing time.
   */
  draft?: boolean
}

/**
 * Prints an HTML document as a PDF without running scripts. Unless it is a draft, the PDF has tags
 * and an outline.
 */
export type PdfPrinter = (html: string, options?: PrintOptions) => Promise<Uint8Array>

export { placesInPdf, stablePdf }

const names = [
  // Debian's Chromium package for servers, which has no GUI.
  'chromium-headless-shell',
  ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
]

/** Returns install locations that may not be in PATH. `KERNEL_LADDER_PATH_ONLY=1` disables them. */
function usualPlaces(): string[] {
  const { env, platform } = process
  if (env.KERNEL_LADDER_PATH_ONLY === '1') return []
  if (platform === 'darwin')
    return ['/Applications', join(homedir(), 'Applications')].flatMap((folder) =>
      ['Google Chrome', 'Chromium'].map((name) =>
        join(folder, `${name}.app/Contents/MacOS/${name}`),
      ),
    )
  if (platform === 'win32')
    return [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA]
      .filter((folder) => folder !== undefined)
      .flatMap((folder) =>
        ['Google/Chrome', 'Chromium'].map((name) => join(folder, name, 'Application/chrome.exe')),
      )
  return ['/opt/google/chrome/chrome', '/snap/bin/chromium']
}

/**
 * Returns the browser's path. Tries the user's choice first, then PATH, and then the usual
 * locations. Returns null if no browser is found.
 */
async function findChromium(): Promise<string | null> {
  const {
    KERNEL_LADDER_CHROMIUM: own,
    CHROME_PATH: chrome,
    CHROMIUM_PATH: other,
    PATH = '',
  } = process.env
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const onPath = PATH.split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => join(folder, name + suffix)))
  for (const file of [own, chrome, other, ...onPath, ...usualPlaces()]) {
    if (!file) continue
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isExecutable) return file
    // If the user chose an executable that does not work, report the failure instead of using
    // another executable.
    if (file === own)
      throw missingError(message('reports.notExecutable', { file }), message('reports.nameBrowser'))
  }
  return null
}

/**
 * Time limit for printing, in milliseconds. Printing a report with hundreds of pages takes a few
 * seconds.
 */
const timeoutMs = 120_000

interface Work {
  /** The document's file name. */
  input: string
  /** The output file's name, or null if the output goes to stdout. */
  output: string | null
  text: string
  /**
   * The last bytes of every complete output file. On a full disk, the browser leaves a partial file
   * without reporting an error.
   */
  ending?: string
  /** Fragment in the document's URL. */
  hash?: string
}

async function run(
  what: string,
  files: Work,
  argv: (out: string) => string[],
): Promise<Uint8Array> {
  const program = await findChromium()
  if (program === null)
    throw missingError(message('reports.noBrowser', { what }), message('reports.installBrowser'))
  const dir = await mkdtemp(join(tmpdir(), 'kernel-ladder-print-')).catch((error: unknown) => {
    throw diskError(error, tmpdir(), 'writeTo')
  })
  try {
    const [file, out] = [join(dir, files.input), join(dir, files.output ?? 'none')]
    await writeFile(file, files.text).catch((error: unknown) => {
      throw diskError(error, file, 'write')
    })
    const result = await runProcess({
      file: program,
      args: [
        '--headless',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-extensions',
        '--no-first-run',
        // Use a separate profile, because the user's profile is private and may be locked.
        `--user-data-dir=${join(dir, 'profile')}`,
        // Chromium's sandbox does not work for root. The document contains only this program's
        // scripts, so the sandbox is not needed.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        ...argv(out),
        pathToFileURL(file).href + (files.hash ?? ''),
      ],
      timeoutMs,
    })
    if (files.output === null) {
      if (result.outcome !== 'exited' || result.exitCode !== 0) throw failed(program, what, result)
      return Buffer.from(result.stdout)
    }
    const made = await readFile(out).catch(() => {
      throw failed(program, what, result)
    })
    if (files.ending !== undefined && !made.subarray(-16).toString('latin1').includes(files.ending))
      throw new KernelLadderError(
        'failed',
        message('reports.halfMade', { program, what, folder: tmpdir() }),
        message('reports.freeTemporary'),
      )
    return made
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

function failed(program: string, what: string, result: ProcessResult): KernelLadderError {
  const { outcome, signal, exitCode } = result
  const how =
    outcome === 'timeout'
      ? message('reports.browserTimeout', { program, what, seconds: timeoutMs / 1000 })
      : signal
        ? message('reports.browserKilled', { program, what, signal })
        : message('reports.browserEnded', { program, what, exitCode: `${exitCode}` })
  const text = result.stderr.trim().split('\n').at(-1) ?? ''
  return new KernelLadderError(
    'failed',
    together(how, text && message('reports.lastWords', { text })),
    message('reports.otherBrowser'),
  )
}

/**
 * Prints an HTML document as a PDF without running scripts. Unless it is a draft, the PDF has tags
 * and an outline.
 */
export const printPdf: PdfPrinter = (html, { draft = false } = {}) =>
  run('PDF', { input: 'report.html', output: 'report.pdf', ending: '%%EOF', text: html }, (out) => [
    `--print-to-pdf=${out}`,
    '--no-pdf-header-footer',
    draft ? '--disable-pdf-tagging' : '--generate-pdf-document-outline',
  ])

/** Resolution of a printed image in dpi. */
const dotsPerInch = 300

/** Renders an SVG as a PNG for print. The width and height are in CSS pixels. */
export const drawPng = (
  svg: string,
  { width, height }: { width: number; height: number },
): Promise<Uint8Array> =>
  run(
    'picture',
    {
      input: 'chart.html',
      output: 'chart.png',
      ending: 'IEND',
      text: `<!doctype html><body style="margin:0">${svg}`,
    },
    (out) => [
      `--screenshot=${out}`,
      '--hide-scrollbars',
      `--window-size=${width},${height}`,
      `--force-device-scale-factor=${dotsPerInch / 96}`,
    ],
  )

/**
 * Time limit on the browser's virtual clock, in milliseconds. The virtual clock skips idle time,
 * and pages take less time than this limit.
 */
const patienceMs = 20_000

/**
 * Draws charts on one of this program's pages. The page's content security policy allows only the
 * page's own scripts.
 */
export type PageDrawer = (html: string, words: readonly string[]) => Promise<DrawnPage>

export const drawInPage: PageDrawer = async (html, words) => {
  const hash = drawingAddress(words)
  const work = { input: 'report.html', output: null, text: html, hash }
  const dom = await run('picture', work, () => [
    // Use a fixed language, so that text in an image does not depend on the user's language.
    '--lang=en-US',
    `--virtual-time-budget=${patienceMs}`,
    '--dump-dom',
  ])
  return parseDrawnPage(Buffer.from(dom).toString('utf8'), words.length)
}
