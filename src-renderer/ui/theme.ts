/**
 * The light or dark theme: the system's theme unless the user chose one. Style sheets select the
 * theme by the `data-theme` attribute.
 */
import { computed, ref, watch } from 'vue'
import { keptChoice } from './preferences'

export const themeChoices = ['system', 'light', 'dark'] as const
type ThemeChoice = (typeof themeChoices)[number]

export const themeChoice = keptChoice<ThemeChoice>('theme', themeChoices)

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = ref(system.matches)
system.addEventListener('change', ({ matches }) => (systemIsDark.value = matches))

export const theme = computed(() =>
  themeChoice.value === 'system' ? (systemIsDark.value ? 'dark' : 'light') : themeChoice.value,
)

watch(theme, (name) => (document.documentElement.dataset['theme'] = name), {
  immediate: true,
  flush: 'sync',
})
