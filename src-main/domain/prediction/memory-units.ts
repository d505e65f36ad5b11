/**
 * Bytes per line and per sector, the units in which caches store and move data. They are the same
 * on every modeled architecture.
 */
export const lineBytes = 128
export const sectorBytes = 32
