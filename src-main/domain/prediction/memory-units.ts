/** The units in which caches store and move data, on every modeled architecture. */
export const lineBytes = 128
export const sectorBytes = 32
