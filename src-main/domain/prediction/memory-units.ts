/**
 * Number of bytes per cache line and per sector. Caches store lines and transfer sectors. All
 * modeled architectures use the same sizes.
 */
export const lineBytes = 128
export const sectorBytes = 32
