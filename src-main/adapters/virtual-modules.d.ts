/** What scripts/vite/ puts into a build. */
declare module 'virtual:kernel-ladder-assets' {
  /** Of the archive in the program's last line; null if files are read in place. */
  const assets: { hash: string } | null
  export default assets
}

declare module 'virtual:emulator-worker' {
  /** A CommonJS script for `new Worker(code, { eval: true })`. */
  const code: () => string
  export default code
}
