/** Translations, as scripts/vite-yaml.ts imports them. */
declare module '*.yaml' {
  const words: import('../ui/authored').Translations
  export default words
}
