/** Search state: the text, the number of matches, and the current match. */
import { ref, watch } from 'vue'

/**
 * Manages a search. `show` marks all matches, moves to the match at an index, and returns the
 * number of matches. The index starts at 0 and wraps around.
 */
export function useFind(show: (text: string, at: number) => number | Promise<number>) {
  const sought = ref('')
  /**
   * The index of the current match, from 1, and the number of matches. The index is 0 if nothing
   * matches.
   */
  const found = ref({ index: 0, count: 0 })
  let at = 0

  async function again(): Promise<void> {
    const count = await show(sought.value, at)
    if (count > 0) at = ((at % count) + count) % count
    found.value = { index: count === 0 ? 0 : at + 1, count }
  }
  watch(sought, () => {
    at = 0
    void again()
  })
  function go(by: 1 | -1): void {
    at += by
    void again()
  }
  return { sought, found, again, go }
}
