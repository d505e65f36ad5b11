/** English sentences on a page of another language: what a translation forgot. */
import type { Page } from 'playwright-core'
import type { Core } from '../../src-main/contract'

/** Text of a page that a reader meets, without what is code, and with what assistive technology is told. */
const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const code = 'code, pre, kbd, samp, script, style, .cm-editor, textarea, [lang="en"]'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    // By the block around it, so that a sentence with a name set as code is one text.
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (parent && !parent.closest(code)) found.push(node.textContent ?? '')
    }
    for (const element of document.body.querySelectorAll('[aria-label], [alt], [placeholder]'))
      for (const name of ['aria-label', 'alt', 'placeholder'])
        if (!element.closest('.cm-editor')) found.push(element.getAttribute(name) ?? '')
    return found
  })

/** Every string in a value, the longest first. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}

/** What sessions, ladders and labs say themselves: their authors' words, shown as they were written. */
export async function authoredTexts(core: Core): Promise<string[]> {
  const sessions = await core.call('sessions.list', {})
  const loaded = await Promise.all(sessions.map(({ ref }) => core.call('sessions.get', { ref })))
  const { labs } = await core.call('labs.list', {})
  const { ladders } = await core.call('ladders.list', {})
  const texts = loaded.flatMap(({ ladder, rungs }) => [
    ...stringsIn(ladder),
    ...rungs.flatMap(({ title, idea }) => [title, idea]),
  ])
  const all = new Set(
    [...texts, ...stringsIn(labs), ...stringsIn(ladders)].filter((text) => text.includes(' ')),
  )
  return [...all].sort((a, b) => b.length - a.length)
}

/** Four plain words in a row are no name, unit or option. */
const sentence = /(?:^|[^\p{L}\d_])[A-Za-z]+(?: [a-z]{2,}){3,}/u
/** Nor are five among figures, in a text without a letter of the language. */
const isEnglish = (text: string): boolean =>
  sentence.test(text) ||
  (!/[\p{Script=Hangul}\p{Script=Han}]/u.test(text) &&
    [...text.matchAll(/(?<![\w.-])[a-z]{2,}(?![\w-])/g)].length >= 5)

export async function englishOn(page: Page, authored: readonly string[]): Promise<string[]> {
  const left = (await textsOf(page)).map((text) =>
    authored.reduce((rest, own) => rest.replaceAll(own, ' · '), text).trim(),
  )
  return [...new Set(left.filter(isEnglish))]
}
