/** Builds the diff view of two sources, and moves it to changes, lines, and the first cause. */
import { onBeforeUnmount, onMounted, ref, watch, type Ref } from 'vue'
import type { Hunk } from '../../../src-main/domain/analysis/chain'
import type { Heat } from '../../ui/code-heat'
import { codePhrases } from '../../ui/code-phrases'
import { language } from '../../ui/language'
import { keptChoice } from '../../ui/preferences'
import { t } from '../../ui/words'
import { codeOnly, tellingLines, whole, withoutHeader } from './source-text'
import { createSourceView, type SideName, type SourceLayout, type SourceView } from './source-view'

interface Source {
  text: string
  file: string
}
/** A line in one of the sources. */
export interface SourceLine {
  side: SideName
  line: number
}

/** The part of the sources to show. */
export const parts = ['code', 'source', 'all'] as const
const textOf = { source: withoutHeader, code: codeOnly, all: whole }

/**
 * Moves to the first change that contains code. In most sources, changed comments and includes come
 * before the first code change.
 */
function goToFirst(view: SourceView, { a, b }: { a: Source; b: Source }): void {
  const sides = ['b', 'a'] as const
  const code = { a: tellingLines(a.text, a.file), b: tellingLines(b.text, b.file) }
  for (const hunk of view.hunks())
    for (const side of sides) {
      const { from, to } = hunk[side]
      const first = [...code[side]].find((own) => own >= from && own <= to)
      if (first === undefined) continue
      view.goTo(hunk)
      view.show(side, first)
      return
    }
}

export function useSourceView(
  host: Readonly<Ref<HTMLElement | undefined>>,
  /** The sources and the line of the first cause, where the view opens. */
  props: Readonly<{ a: Source; b: Source; first?: SourceLine | null }>,
  heats: Readonly<Ref<Record<SideName, Heat | null>>>,
  on: { line(side: SideName, line: number): void; build(): void },
) {
  // In a narrow window, two panes would be too narrow to read. In a medium window, each pane shows
  // about 50 columns.
  const layout = ref<SourceLayout>(innerWidth < 1280 ? 'unified' : 'split')
  const wrap = ref(innerWidth < 1600)
  const part = keptChoice('diff-part', parts)
  const position = ref({ index: 0, count: 0 })
  /**
   * Whether the user has moved to a change. Until the user moves, the view stays at the first
   * cause.
   */
  const hasMoved = ref(false)
  // Not reactive: CodeMirror manages its own state.
  let view: SourceView | undefined

  function paint(): void {
    view?.heat('a', heats.value.a)
    view?.heat('b', heats.value.b)
  }

  function goToCause(): void {
    const { first } = props
    if (!first || !view || hasMoved.value) return
    const none = { from: 0, to: 0 }
    const at = { from: first.line, to: first.line }
    const isChanged = view
      .hunks()
      .some(({ [first.side]: own }) => own.from <= first.line && first.line <= own.to)
    if (isChanged) goTo(first.side === 'a' ? { a: at, b: none } : { a: none, b: at })
    hasMoved.value = false
    view.reveal(first.side, first.line)
  }
  watch(() => props.first, goToCause)

  /** Builds the view and opens it at the given change, the first cause, or the first code change. */
  function build(at?: Hunk): void {
    const root = host.value?.shadowRoot ?? host.value?.attachShadow({ mode: 'open' })
    if (!root) return
    view?.destroy()
    // Variants of one file differ only in the parameters in their headers, so show the whole file.
    const isVariant =
      codeOnly(props.a.text, props.a.file).text === codeOnly(props.b.text, props.b.file).text
    const source = ({ text, file }: Source) => textOf[isVariant ? 'all' : part.value](text, file)
    view = createSourceView(root, source(props.a), source(props.b), {
      layout: layout.value,
      loose: part.value === 'code',
      wrap: wrap.value,
      phrases: codePhrases(t),
      onLine: on.line,
    })
    paint()
    host.value?.scrollTo({ top: 0 })
    if (at) view.goTo(at)
    else {
      goToFirst(view, props)
      goToCause()
    }
    position.value = view.position()
    on.build()
  }

  function go(direction: 'next' | 'previous'): void {
    hasMoved.value = true
    view?.go(direction)
    if (view) position.value = view.position()
  }
  function goTo(hunk: Hunk): void {
    hasMoved.value = true
    view?.goTo(hunk)
    if (view) position.value = view.position()
  }

  /**
   * Whether CodeMirror has aligned both sides and scrolled, which takes several frames. The view is
   * hidden until both sides are aligned.
   */
  const isAligned = ref(false)
  onMounted(() => {
    build()
    requestAnimationFrame(() => requestAnimationFrame(() => (isAligned.value = true)))
  })
  watch([() => props.a.text, () => props.b.text, () => props.a.file, () => props.b.file], () => {
    hasMoved.value = false
    build()
  })
  watch([layout, wrap, part, language], () => build(view?.current()))
  watch(heats, paint)
  onBeforeUnmount(() => view?.destroy())

  return {
    ...{ layout, wrap, part, position, hasMoved, isAligned, go, goTo },
    find: (text: string, at: number) => view?.find(text, at) ?? 0,
    current: () => view?.current(),
    reveal: ({ side, line }: SourceLine) => view?.reveal(side, line),
  }
}
