/** Every screen by its address, with what is there once it is ready. */
import { ladderRoute } from './support'

const recorded = 'recorded:gemm-fp32-h200-4096'
const at = (rest: string): string => ladderRoute(recorded).replace(/ladder$/, rest)

export const screens: readonly { name: string; route: string; ready: string }[] = [
  { name: 'ladder', route: at('ladder'), ready: 'tr[data-rung]' },
  { name: 'compare', route: at('compare/02_coalesced/03_shared_tile'), ready: '.cm-line' },
  { name: 'matrix', route: at('matrix'), ready: '[role="gridcell"]' },
  { name: 'charts', route: at('charts'), ready: 'main h1, main h2' },
  { name: 'export', route: at('export'), ready: 'main h1, main h2' },
  { name: 'sessions', route: '/sessions', ready: 'tr[data-session]' },
  { name: 'occupancy', route: '/occupancy', ready: 'main h1, main h2' },
  { name: 'run', route: '/run', ready: 'main select' },
  { name: 'sanitize', route: '/run/checks', ready: 'main h1, main h2' },
  { name: 'doctor', route: '/doctor', ready: 'main h2' },
  { name: 'missing', route: '/nowhere', ready: 'main h2' },
]
