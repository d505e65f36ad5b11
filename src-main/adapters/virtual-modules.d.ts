// What scripts/vite-plugins.ts puts into a build.

declare module 'virtual:kernel-ladder-assets' {
  /** See `packAssets` for the archive's format; null if files are read in place. */
  const assets: { hash: string; base64: string } | null
  export default assets
}

declare module 'virtual:emulator-worker' {
  /** A CommonJS script for `new Worker(code, { eval: true })`. */
  const code: () => string
  export default code
}
