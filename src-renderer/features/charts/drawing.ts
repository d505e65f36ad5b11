/** A page that draws one chart for a file: what it was asked for, and where the drawing goes. */
import { inject, type InjectionKey } from 'vue'

export interface Drawing {
  /** What the chart's own controls would be set to. */
  choice: string | undefined
  deliver: (svg: string) => void
}

export const drawingKey: InjectionKey<Drawing> = Symbol('drawing')

/** Null on every screen but that page. */
export const useDrawing = (): Drawing | null => inject(drawingKey, null)

/** The asked one of these; undefined where a reader is to choose. */
export function choiceOf<T extends string>(choices: readonly T[]): T | undefined {
  const asked = useDrawing()?.choice
  return choices.find((choice) => choice === asked)
}
