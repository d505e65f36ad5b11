/** The request of a page that draws one chart to a file, and the destination of the drawing. */
import { inject, type InjectionKey } from 'vue'

interface Drawing {
  /** The setting of the chart's own controls. */
  choice: string | undefined
  /** `label` has the figures in words. */
  deliver: (svg: string, label: string) => void
}

export const drawingKey: InjectionKey<Drawing> = Symbol('drawing')

/** null on every other screen. */
export const useDrawing = (): Drawing | null => inject(drawingKey, null)

/** The requested choice; undefined if the user chooses on screen. */
export function choiceOf<T extends string>(choices: readonly T[]): T | undefined {
  const requested = useDrawing()?.choice
  return choices.find((choice) => choice === requested)
}
