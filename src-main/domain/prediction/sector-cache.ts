/** A cache of lines in sectors, of which the lines used longest ago are replaced. */
export class SectorCache {
  /** By line, the latest last: its valid sectors. */
  private readonly lines = new Map<number, number>()
  hits = 0
  misses = 0

  constructor(
    private readonly mostLines: number,
    private readonly onEvict: (line: number, sectors: number) => void = () => {},
  ) {}

  /** Looks up and fills the sectors of a line; returns those that were missing. */
  access(line: number, sectors: number): number {
    const valid = this.lines.get(line)
    if (valid !== undefined) this.lines.delete(line)
    else if (this.lines.size >= this.mostLines) {
      const [oldest] = this.lines.entries().next().value!
      this.onEvict(oldest, this.lines.get(oldest)!)
      this.lines.delete(oldest)
    }
    if (this.mostLines > 0) this.lines.set(line, (valid ?? 0) | sectors)
    const missing = sectors & ~(valid ?? 0)
    this.misses += countSectors(missing)
    this.hits += countSectors(sectors) - countSectors(missing)
    return missing
  }

  has(line: number, sectors: number): boolean {
    return ((this.lines.get(line) ?? 0) & sectors) === sectors
  }

  drop(line: number): void {
    this.lines.delete(line)
  }
}

const bitCounts = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4] as const

/** Sectors of a mask of four. */
export const countSectors = (mask: number): number => bitCounts[mask & 15]!
