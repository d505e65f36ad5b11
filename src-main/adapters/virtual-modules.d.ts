/** Declares the modules that scripts/vite/ adds to a build. */
declare module 'virtual:kernel-ladder-assets' {
  /** Hash of the archive in the program's last line. Null if the program contains no archive. */
  const assets: { hash: string } | null
  export default assets
}

declare module 'virtual:emulator-worker' {
  /** Returns a CommonJS script for `new Worker(code, { eval: true })`. */
  const code: () => string
  export default code
}
