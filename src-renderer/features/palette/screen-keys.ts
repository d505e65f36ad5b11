/** Maps the letter typed after g to its screen. */
import { screens, type Screen } from '../../screens'

export interface GoTo {
  key: string
  screen: Screen
}

export const goTos: readonly GoTo[] = screens.flatMap((screen) =>
  screen.meta?.key === undefined ? [] : [{ key: screen.meta.key, screen }],
)
