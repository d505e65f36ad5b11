/** Resolves when the page is idle, or after half a second at the latest. */
export const whenIdle = (): Promise<unknown> =>
  new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 }))
