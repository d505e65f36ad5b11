/**
 * The drawing request on a page that renders one chart into a file, with a callback for the
 * finished drawing.
 */
import { inject, type InjectionKey } from 'vue'

interface Drawing {
  /** The option to select in the chart's control. */
  choice: string | undefined
  /** Called with the finished drawing. `label` describes the data in words. */
  deliver: (svg: string, label: string) => void
}

export const drawingKey: InjectionKey<Drawing> = Symbol('drawing')

/** Returns the drawing request, or null on a normal screen. */
export const useDrawing = (): Drawing | null => inject(drawingKey, null)

/**
 * Returns the option that the request selects in the chart's control. Returns undefined on a normal
 * screen, where the user selects the option.
 */
export function choiceOf<T extends string>(choices: readonly T[]): T | undefined {
  const requested = useDrawing()?.choice
  return choices.find((choice) => choice === requested)
}
