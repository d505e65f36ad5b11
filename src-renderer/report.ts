/**
 * The UI of an HTML report. The report shows the app's own screens for the sessions embedded in the
 * page.
 */
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { z } from 'zod'
import { createClient, provideClient } from './client/client'
import { staticTransport } from './client/static'
import { frozenKey, readFrozen, readFrozenDeep } from './features/report/frozen'
import ReportApp from './features/report/ReportApp.vue'
import { followLanguage } from './i18n'
import './styles/tokens.css'
import './styles/base.css'
import { tip } from './ui/tip'
import { createReportRouter } from './features/report/report-router'

z.config({ jitless: true })

try {
  const frozen = readFrozen(document)
  provideClient(
    createClient(staticTransport(frozen, (session) => readFrozenDeep(document, session))),
  )
  void followLanguage()
  createApp(ReportApp)
    .use(createPinia())
    .use(createReportRouter(frozen))
    .provide(frozenKey, frozen)
    .directive('tip', tip)
    .mount('#app')
} catch (error) {
  // Without data nothing can be drawn, but the page must not stay blank.
  document.body.textContent = `This report cannot be read: ${error instanceof Error ? error.message : String(error)}`
}
