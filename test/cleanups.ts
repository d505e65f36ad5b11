/** What has to be undone when a test ends, the last first. */
const waiting: (() => unknown)[] = []

export const afterTest = (cleanup: () => unknown): void => {
  waiting.push(cleanup)
}

export async function cleanUp(): Promise<void> {
  for (let next = waiting.pop(); next; next = waiting.pop()) await next()
}
