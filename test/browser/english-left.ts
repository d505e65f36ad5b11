/** English sentences on a page of another language: what a translation forgot. */
import type { Page } from 'playwright-core'

/** Text of a page that a reader meets, without what is code, and with what assistive technology is told. */
const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const code =
      'code, pre, kbd, samp, script, style, annotation, .cm-editor, textarea, [lang="en"]'
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
    // What an editor says by itself stands between the lines of its code.
    for (const { shadowRoot } of document.querySelectorAll('*'))
      for (const said of shadowRoot?.querySelectorAll('.cm-collapsedLines, .cm-panel') ?? [])
        found.push(said.textContent ?? '')
    // The labels of a picture that is an image.
    for (const { src } of document.images)
      if (src.startsWith('data:image/svg+xml,'))
        for (const [label] of decodeURIComponent(src).matchAll(/(?<=>)[^<>]+(?=<\/)/g))
          found.push(label)
    return found
  })

/** Four plain words in a row are no name, unit or option. */
const sentence = /(?:^|[^\p{L}\d_])[A-Za-z]+(?: [a-z]{2,}){3,}/u
/** Nor are five among figures, in a text without a letter of the language. */
const isEnglish = (text: string): boolean =>
  sentence.test(text) ||
  (!/[\p{Script=Hangul}\p{Script=Han}]/u.test(text) &&
    [...text.matchAll(/(?<![\w.-])[a-z]{2,}(?![\w-])/g)].length >= 5)

/** `authored` is what the author of a lab or ladder from elsewhere wrote, shown as it was written. */
export async function englishOn(page: Page, authored: readonly string[] = []): Promise<string[]> {
  const left = (await textsOf(page)).map((text) =>
    authored.reduce((rest, own) => rest.replaceAll(own, ' · '), text).trim(),
  )
  return [...new Set(left.filter(isEnglish))]
}
