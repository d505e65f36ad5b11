/** A cache with four sectors per line and least-recently-used eviction. */
export class SectorCache {
  /** Masks of the valid sectors, keyed by line. The least recently used line is first. */
  private readonly lines = new Map<number, number>()
  hits = 0
  misses = 0

  constructor(private readonly mostLines: number) {}

  /**
   * Looks up sectors of a line and marks them as valid. Returns the sectors that were missing from
   * the cache.
   */
  access(line: number, sectors: number): number {
    if (this.mostLines === 0) {
      this.misses += countSectors(sectors)
      return sectors
    }
    const valid = this.lines.get(line)
    if (valid !== undefined) this.lines.delete(line)
    else if (this.lines.size >= this.mostLines) {
      this.lines.delete(this.lines.keys().next().value!)
    }
    this.lines.set(line, (valid ?? 0) | sectors)
    const missing = sectors & ~(valid ?? 0)
    this.misses += countSectors(missing)
    this.hits += countSectors(sectors) - countSectors(missing)
    return missing
  }
}

const bitCounts = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4] as const

/** Returns the number of sectors in a sector mask. */
export const countSectors = (mask: number): number => bitCounts[mask & 15]!
