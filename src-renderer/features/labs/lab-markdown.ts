/**
 * Renders Markdown as Vue nodes, never as HTML. An author's text can therefore create only the
 * elements defined here. Formulas are between dollar signs. Pictures must be part of the lab.
 */
import MarkdownIt, { type Token } from 'markdown-it'
import { defineAsyncComponent, h, type VNode, type Component } from 'vue'

let loaded: Component | null = null
const loadFormulas = async (): Promise<Component> =>
  (loaded ??= (await import('./FormulaText.vue')).default)
const FormulaToLoad = defineAsyncComponent(loadFormulas)

/**
 * Resolves when the formulas in the text can be rendered. Otherwise, formulas would appear later
 * and move the text below them.
 */
export async function formulasReady(text: string): Promise<void> {
  if (text.includes('$')) await loadFormulas().catch(() => undefined)
}

const markdown = new MarkdownIt('commonmark', { html: false }).enable('table')

// `$a^2$` is an inline formula, `$$a^2$$` is a block formula, and `\$` is a dollar sign.
markdown.inline.ruler.before('escape', 'formula', (state, silent) => {
  const found = /^(\$\$?)(?!\s)((?:\\.|[^\\$])+?)\1/.exec(state.src.slice(state.pos))
  const display = /^\$\$\s*((?:\\.|[^\\$])+?)\s*\$\$/.exec(state.src.slice(state.pos))
  const match = display ?? found
  if (!match || (!display && /\s$/.test(match[2]!))) return false
  if (!silent) {
    const token = state.push('formula', '', 0)
    token.content = display ? display[1]! : match[2]!
    token.meta = { display: display !== null }
  }
  state.pos += match[0].length
  return true
})

interface MarkdownOptions {
  /** Pictures as `data:` URIs. The keys are the paths used in the text. */
  pictures?: Readonly<Record<string, string>>
}

type Child = VNode | string

/** Returns the tag one heading level lower, because the screen has its own top heading. */
const tagOf = (tag: string): string =>
  tag.replace(/^h([1-5])$/, (_, level) => `h${Number(level) + 1}`)

function leaf(token: Token, { pictures = {} }: MarkdownOptions): Child[] {
  switch (token.type) {
    case 'inline':
      return nodes(token.children ?? [], { pictures })
    case 'text':
      return [token.content]
    case 'softbreak':
      return [' ']
    case 'hardbreak':
      return [h('br')]
    case 'hr':
      return [h('hr')]
    case 'code_inline':
      return [h('code', token.content)]
    case 'fence':
    case 'code_block':
      return [h('pre', { tabindex: 0 }, [h('code', token.content)])]
    case 'formula':
      return [
        // Render immediately if the component is loaded. An async component would appear one frame
        // after the text.
        h(loaded ?? FormulaToLoad, {
          text: token.content,
          display: (token.meta as { display: boolean }).display,
        }),
      ]
    case 'image': {
      const source = pictures[String(token.attrGet('src'))]
      return source === undefined
        ? [token.content]
        : [h('img', { src: source, alt: token.content })]
    }
    default:
      return token.content === '' ? [] : [token.content]
  }
}

function nodes(tokens: readonly Token[], options: MarkdownOptions): Child[] {
  const root: Child[] = []
  const open: { token: Token; children: Child[] }[] = []
  const here = (): Child[] => open.at(-1)?.children ?? root
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, children: [] })
    else if (token.nesting === 0) here().push(...leaf(token, options))
    else {
      const closed = open.pop()
      if (!closed) continue
      // Links in a lab cannot be clicked. A tooltip shows the address.
      if (closed.token.type === 'link_open')
        here().push(h('span', { title: String(closed.token.attrGet('href')) }, closed.children))
      else if (closed.token.hidden) here().push(...closed.children)
      else here().push(h(tagOf(closed.token.tag), closed.children))
    }
  }
  return root
}

/** A line break between Chinese characters or punctuation, which must not become a space. */
const unspacedBreak = /(?<=[\p{Script=Han}，。；：、？！）”])\n(?=[\p{Script=Han}（“])/gu

export const renderMarkdown = (text: string, options: MarkdownOptions = {}): Child[] =>
  nodes(markdown.parse(text.replaceAll(unspacedBreak, ''), {}), options)
