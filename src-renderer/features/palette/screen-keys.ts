/** Maps the letter typed after g to the screen that it opens. */
import { screens, type Screen } from '../../screens'

export interface GoTo {
  key: string
  screen: Screen
}

export const goTos: readonly GoTo[] = screens.flatMap((screen) =>
  screen.meta?.key === undefined ? [] : [{ key: screen.meta.key, screen }],
)
