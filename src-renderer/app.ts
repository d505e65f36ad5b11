import { createRouter, createWebHashHistory } from 'vue-router'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { z } from 'zod'
import { screens } from './screens'
import App from './App.vue'
import { createClient, provideClient } from './client/client'
import { electronTransport, webTransport } from './client/transports'
import { followLanguage } from './i18n'
import './styles/tokens.css'
import './styles/base.css'
import { tip } from './ui/tip'

// Use hash history, because no server resolves deep paths under app:// or in a static report.
export const router = createRouter({ history: createWebHashHistory(), routes: screens })

// The router misses and overwrites address changes that occur before the first screen has loaded,
// so repeat the last change afterward.
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

// The content security policy forbids eval, which zod uses by default to run faster.
z.config({ jitless: true })

provideClient(
  createClient(window.kernelLadder ? electronTransport(window.kernelLadder) : webTransport()),
)

// Load the language before the first paint to avoid a flash of English.
await followLanguage()

createApp(App).use(createPinia()).use(router).directive('tip', tip).mount('#app')
