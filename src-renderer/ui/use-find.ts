/** A text sought in what is shown: how many places it has, and which one is the current. */
import { ref, watch } from 'vue'

/** `show` marks all places and moves to one, from 0 and around the ends; it answers how many there are. */
export function useFind(show: (text: string, at: number) => number | Promise<number>) {
  const sought = ref('')
  /** The current place, from 1; 0 while there is none. */
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
