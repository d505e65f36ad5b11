declare module 'virtual:emulator-worker' {
  /** A CommonJS script for `new Worker(code, { eval: true })`. See scripts/vite-emulator-worker.ts. */
  const code: string
  export default code
}
