import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { autosave, type Version } from './autosave'

/** The tab's session storage. `stored` is the version of the text in the core. */
let storage: Map<string, string>
let stored: Version
let answering: boolean

beforeEach(() => {
  storage = new Map()
  stored = { source: 'first', savedAt: 'at 1' }
  answering = true
  vi.useFakeTimers()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => void storage.set(key, value),
    removeItem: (key: string) => void storage.delete(key),
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

let clock = 1
async function save(source: string, replaces: string | null) {
  if (replaces !== stored.savedAt) return { savedAt: stored.savedAt, other: stored.source }
  stored = { source, savedAt: `at ${(clock += 1)}` }
  if (!answering) throw new Error('the answer was lost')
  return { savedAt: stored.savedAt, other: null }
}
const open = () => autosave({ name: 'lab', opened: stored, pauseMs: 500, save })

describe('autosaved text', () => {
  it('survives a reload before its first save', async () => {
    open().source.value = 'typed'
    expect(stored.source).toBe('first')
    const reloaded = open()
    expect(reloaded.source.value).toBe('typed')
    await reloaded.flush()
    expect(stored.source).toBe('typed')
    expect(storage.size).toBe(0)
  })

  it('is saved after a pause and then removed from the tab’s storage', async () => {
    const tab = open()
    tab.source.value = 'typed'
    await vi.advanceTimersByTimeAsync(500)
    expect([stored.source, tab.state.value, storage.size]).toEqual(['typed', 'saved', 0])
  })

  it('asks the user before it replaces a version that another tab saved', async () => {
    const [older, newer] = [open(), autosave({ name: 'other', opened: stored, pauseMs: 500, save })]
    newer.source.value = 'newer'
    await newer.flush()
    older.source.value = 'older'
    expect(await older.flush()).toBe(false)
    older.source.value = 'older still'
    await vi.advanceTimersByTimeAsync(1000)
    expect([stored.source, older.state.value]).toEqual(['newer', 'conflict'])
  })

  it('replaces the conflicting version or is replaced by it, as the user chooses', async () => {
    const [mine, theirs] = [open(), autosave({ name: 'other', opened: stored, pauseMs: 500, save })]
    mine.source.value = 'mine'
    theirs.source.value = 'theirs'
    await mine.flush()
    await theirs.flush()
    expect(await theirs.keepOwn()).toBe(true)
    expect(stored.source).toBe('theirs')
    mine.source.value = 'mine again'
    await mine.flush()
    mine.takeOther()
    expect([mine.source.value, stored.source, mine.state.value]).toEqual([
      'theirs',
      'theirs',
      'saved',
    ])
  })

  it('does not conflict with its own save whose response was lost', async () => {
    const tab = open()
    answering = false
    tab.source.value = 'sent'
    expect(await tab.flush()).toBe(false)
    answering = true
    tab.source.value = 'sent and more'
    const reloaded = open()
    expect(await reloaded.flush()).toBe(true)
    expect(stored.source).toBe('sent and more')
    expect(reloaded.other.value).toBeNull()
  })
})
