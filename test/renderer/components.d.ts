/**
 * The type of a component for plain TypeScript. `npm run typecheck` checks the components
 * themselves.
 */
declare module '*.vue' {
  import type { Component } from 'vue'
  const component: Component
  export default component
}
