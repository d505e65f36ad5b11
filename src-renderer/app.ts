import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { z } from 'zod'
import App from './App.vue'
import { createClient, provideClient } from './client/client'
import { electronTransport, webTransport } from './client/transports'
import { followLanguage, i18n } from './i18n'
import { router } from './router'
import './styles/tokens.css'
import './styles/base.css'
import { tip } from './ui/tip'

// The content security policy forbids eval, which zod would otherwise use to speed itself up.
z.config({ jitless: true })

provideClient(
  createClient(window.kernelLadder ? electronTransport(window.kernelLadder) : webTransport()),
)

// Before the first paint, to avoid a flash of English.
await followLanguage()

createApp(App).use(createPinia()).use(i18n).use(router).directive('tip', tip).mount('#app')
