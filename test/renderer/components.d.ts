/** What TypeScript alone knows of a component; `npm run typecheck` looks into them. */
declare module '*.vue' {
  import type { Component } from 'vue'
  const component: Component
  export default component
}
