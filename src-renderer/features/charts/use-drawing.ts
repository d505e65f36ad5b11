/**
 * The request of a page that draws one chart into a file, and the function that receives the
 * drawing.
 */
import { inject, type InjectionKey } from 'vue'

interface Drawing {
  /** The value of the chart's own control. */
  choice: string | undefined
  /** Receives the drawing. `label` describes the figures in words. */
  deliver: (svg: string, label: string) => void
}

export const drawingKey: InjectionKey<Drawing> = Symbol('drawing')

/** Returns null on every other screen. */
export const useDrawing = (): Drawing | null => inject(drawingKey, null)

/** Returns the requested choice; undefined if the user chooses on screen. */
export function choiceOf<T extends string>(choices: readonly T[]): T | undefined {
  const requested = useDrawing()?.choice
  return choices.find((choice) => choice === requested)
}
