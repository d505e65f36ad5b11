import { createRouter, createWebHashHistory } from 'vue-router'
// Not fetched on demand as the others are: it is on the way to the default session.
import HomeScreen from './features/frame/HomeScreen.vue'
import { sessionScreens } from './features/frame/session-screens'

const word = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

// Hash history, because app:// and a static report have no server that could answer a deep path.
export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/', name: 'home', component: HomeScreen },
    ...Object.values(sessionScreens),
    {
      path: '/session/:sessionRef/export',
      name: 'export',
      props: true,
      component: () => import('./features/export/ExportScreen.vue'),
    },
    {
      path: '/session/:sessionRef/edit/:rung',
      name: 'edit',
      props: true,
      meta: { under: 'ladder' },
      component: () => import('./features/edit/EditScreen.vue'),
    },
    {
      path: '/sessions',
      name: 'sessions',
      component: () => import('./features/sessions/SessionsScreen.vue'),
    },
    { path: '/labs', name: 'labs', component: () => import('./features/labs/LabsScreen.vue') },
    {
      path: '/labs/:labRef',
      name: 'lab',
      meta: { under: 'labs' },
      props: true,
      component: () => import('./features/labs/LabScreen.vue'),
    },
    { path: '/run', name: 'run', component: () => import('./features/run/RunScreen.vue') },
    {
      path: '/run/checks',
      name: 'sanitize',
      meta: { under: 'run' },
      props: ({ query }) => ({ ladder: word(query['ladder']), rung: word(query['rung']) }),
      component: () => import('./features/sanitize/SanitizeScreen.vue'),
    },
    {
      path: '/occupancy',
      name: 'occupancy',
      component: () => import('./features/occupancy/OccupancyScreen.vue'),
    },
    {
      path: '/doctor',
      name: 'doctor',
      component: () => import('./features/doctor/DoctorScreen.vue'),
    },
    {
      path: '/:rest(.*)*',
      name: 'missing',
      component: () => import('./features/frame/MissingScreen.vue'),
    },
  ],
})

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
