/** Minimum idle period in milliseconds. Shorter periods are only gaps between frames. */
const restful = 30

const latestMs = 500

/**
 * Resolves when the page has finished drawing and is idle, but after half a second at the latest.
 */
export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    const until = performance.now() + latestMs
    const look = (idle: IdleDeadline): void => {
      const left = until - performance.now()
      if (idle.didTimeout || idle.timeRemaining() > restful || left <= 0) resolve()
      else requestIdleCallback(look, { timeout: left })
    }
    requestIdleCallback(look, { timeout: latestMs })
  })
