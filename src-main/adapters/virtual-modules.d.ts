/** Modules that scripts/vite/ adds to a build. */
declare module 'virtual:kernel-ladder-assets' {
  /** The hash of the archive in the program's last line. Null if files are read in place. */
  const assets: { hash: string } | null
  export default assets
}

declare module 'virtual:emulator-worker' {
  /** Returns a CommonJS script for `new Worker(code, { eval: true })`. */
  const code: () => string
  export default code
}
