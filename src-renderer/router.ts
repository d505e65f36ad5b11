import { createRouter, createWebHashHistory } from 'vue-router'
import { screens } from './screens'

// Hash history, because app:// and a static report have no server to answer a deep path.
export const router = createRouter({ history: createWebHashHistory(), routes: screens })

// Until its first screen has loaded, the router misses address changes and then overwrites them.
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
