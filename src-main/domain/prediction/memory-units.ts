/** The units in which caches keep and move data, on every architecture that is modelled. */
export const lineBytes = 128
export const sectorBytes = 32
