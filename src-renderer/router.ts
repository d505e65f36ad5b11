import { createRouter, createWebHashHistory } from 'vue-router'
import { screens } from './screens'

// Hash history, because app:// and a static report have no server that could answer a deep path.
export const router = createRouter({ history: createWebHashHistory(), routes: screens })

// Until its first screen is there the router hears of no other address, and then writes its own over it.
let newer: string | null = null
const note = () => (newer = window.location.hash.slice(1))
window.addEventListener('popstate', note)
void router
  .isReady()
  .catch(() => undefined)
  .then(() => {
    window.removeEventListener('popstate', note)
    if (newer !== null) void router.replace(newer)
  })
