/**
 * Registers callbacks for a canceled run. Every running program and every emulator thread listens
 * to its run's abort signal.
 *
 * All callbacks share one listener per signal, because Node 20 reports a leak at the eleventh
 * listener.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `callBack` once when the signal aborts. The returned function removes the callback. */
export function whenAborted(signal: AbortSignal, callBack: () => void): () => void {
  const all = waiting.get(signal) ?? new Set<() => void>()
  const call = (): void => callBack()
  const abort = (): void => {
    for (const one of [...all]) one()
  }
  if (!waiting.has(signal)) {
    waiting.set(signal, all)
    signal.addEventListener('abort', abort, { once: true })
  }
  all.add(call)
  return () => {
    all.delete(call)
  }
}
