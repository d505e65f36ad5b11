/** Runs work when the browser is idle. */

/** An idle period shorter than this, in milliseconds, lies between two frames that are being drawn. */
const restful = 30

const latestMs = 500

/** Resolves when the page has drawn what it has to draw and rests, or after half a second at the latest. */
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
