/** Resolves when the page has nothing more urgent to do, after half a second at the latest. */
export const whenIdle = (): Promise<unknown> =>
  new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 }))
