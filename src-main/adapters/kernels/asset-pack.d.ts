declare module 'virtual:kernel-ladder-assets' {
  /** See scripts/vite-asset-pack.ts for the archive's format; null if files are read in place. */
  const assets: { hash: string; base64: string } | null
  export default assets
}
