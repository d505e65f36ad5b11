/**
 * The app's screens. A screen consists of a component, an entry in this file, and its strings and
 * `title` in each locale. Router, navigation, palette, keys, and help are derived from the entry.
 */
import type { RouteLocationRaw } from 'vue-router'
// Import the home screen statically, unlike the other screens, because it opens the default
// session.
import HomeScreen from './features/frame/HomeScreen.vue'
import { sessionScreens, type Screen } from './features/frame/session-screens'

export type { Screen }

declare module 'vue-router' {
  interface RouteMeta {
    /** Whether the navigation links to the screen. */
    linked?: true
    /** The letter that, typed after g, opens the screen. */
    key?: string
    /** The screen whose link is highlighted if this screen has no link. */
    under?: string
  }
}

const word = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const isOfSession = ({ path }: Screen): boolean => path.startsWith('/session/:sessionRef/')

/**
 * Returns the session screen that was requested before a session was open. The home screen opens
 * the requested screen next. Screens without a keyboard shortcut are ignored, because a session
 * alone is not enough to open them.
 */
const afterHome = (name: unknown): string =>
  screens.find((screen) => screen.name === name && isOfSession(screen) && screen.meta?.key)?.name ??
  'ladder'

/** The app's screens, in navigation order. */
export const screens: readonly Screen[] = [
  {
    path: '/',
    name: 'home',
    props: ({ query }) => ({ next: afterHome(query['screen']) }),
    component: HomeScreen,
  },
  ...Object.values(sessionScreens),
  {
    path: '/session/:sessionRef/export',
    name: 'export',
    props: true,
    meta: { key: 'x' },
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
    meta: { linked: true, key: 's' },
    component: () => import('./features/sessions/SessionsScreen.vue'),
  },
  {
    path: '/sessions/history',
    name: 'history',
    meta: { under: 'sessions', key: 'y' },
    props: ({ query }) => ({ ladder: word(query['ladder']) }),
    component: () => import('./features/history/HistoryScreen.vue'),
  },
  {
    path: '/occupancy',
    name: 'occupancy',
    meta: { linked: true, key: 'o' },
    component: () => import('./features/occupancy/OccupancyScreen.vue'),
  },
  {
    path: '/labs',
    name: 'labs',
    meta: { linked: true, key: 'b' },
    component: () => import('./features/labs/LabsScreen.vue'),
  },
  {
    path: '/labs/:labRef',
    name: 'lab',
    meta: { under: 'labs' },
    props: true,
    component: () => import('./features/labs/LabScreen.vue'),
  },
  {
    path: '/run',
    name: 'run',
    meta: { linked: true, key: 'r' },
    props: ({ query }) => ({ ladder: word(query['ladder']) }),
    component: () => import('./features/run/RunScreen.vue'),
  },
  {
    path: '/run/checks',
    name: 'sanitize',
    meta: { under: 'run', key: 'k' },
    props: ({ query }) => ({ ladder: word(query['ladder']), rung: word(query['rung']) }),
    component: () => import('./features/sanitize/SanitizeScreen.vue'),
  },
  {
    path: '/run/folders',
    name: 'folders',
    meta: { under: 'run', key: 'f' },
    component: () => import('./features/folders/FoldersScreen.vue'),
  },
  {
    path: '/run/folder',
    name: 'folder',
    meta: { under: 'run' },
    props: ({ query }) => ({ path: word(query['path']) ?? '', file: word(query['file']) }),
    component: () => import('./features/folders/FolderScreen.vue'),
  },
  {
    path: '/run/tunings',
    name: 'tunings',
    meta: { under: 'run', key: 't' },
    props: ({ query }) => ({ id: word(query['id']) }),
    component: () => import('./features/tunings/TuningsScreen.vue'),
  },
  {
    path: '/doctor',
    name: 'doctor',
    meta: { linked: true, key: 'd' },
    component: () => import('./features/doctor/DoctorScreen.vue'),
  },
  {
    path: '/:rest(.*)*',
    name: 'missing',
    component: () => import('./features/frame/MissingScreen.vue'),
  },
]

/**
 * Returns a screen's location in the open session. Without an open session, returns the location of
 * home, which opens a session and then the screen.
 */
export function placeOf(screen: Screen, sessionRef: string | null): RouteLocationRaw {
  const { name } = screen
  if (!isOfSession(screen)) return { name }
  return sessionRef === null
    ? { name: 'home', query: { screen: name } }
    : { name, params: { sessionRef } }
}
