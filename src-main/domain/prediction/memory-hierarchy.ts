/**
 * Models the memory of one SM: L1 with lines and sectors, and a share of L2 and DRAM. How often
 * other SMs concurrently read the same lines is estimated from the first instructions of all blocks
 * in a wave.
 */
import type { ParameterValues } from './parameter-table'
import { lineBytes, sectorBytes } from './memory-units'
import { SectorCache, countSectors } from './sector-cache'
import { Server } from './servers'

/** Describes how concurrent SMs share the data that they read. */
export interface Sharing {
  /** Number of active SMs. */
  readonly sms: number
  /** Average number of SMs that read a sector at about the same time. */
  readonly readers: number
  /**
   * Fraction of a wave's first reads whose data the previous wave left in L2, from 0 to 1. The
   * fraction does not apply to the first wave.
   */
  readonly leftInL2: number
  /** Bytes of L1 that remain after subtracting the blocks' shared memory. */
  readonly l1Bytes: number
}

/** Bytes transferred by one SM, and its cache hits. */
export interface Traffic {
  l2ReadBytes: number
  l2WriteBytes: number
  dramReadBytes: number
  dramWriteBytes: number
  l1Sectors: number
  l1Hits: number
  l2Sectors: number
  l2Hits: number
}

/**
 * Maximum number of lines with tracked arrival times. The arrival time distinguishes a line that is
 * being filled from a line that is present.
 */
const mostInFlight = 8192

export class MemoryHierarchy {
  readonly traffic: Traffic = {
    ...{ l2ReadBytes: 0, l2WriteBytes: 0, dramReadBytes: 0, dramWriteBytes: 0 },
    ...{ l1Sectors: 0, l1Hits: 0, l2Sectors: 0, l2Hits: 0 },
  }
  readonly port = new Server()
  readonly storePort = new Server()
  readonly l2 = new Server()
  readonly dram = new Server()
  private leftInL2 = 0
  private readonly l1: SectorCache
  private readonly near: SectorCache
  /** Arrival time of the most recently requested sectors of each line. */
  private readonly arrives = new Map<number, number>()
  /** Number of bytes written to each partially written sector, keyed by sector number. */
  private readonly partial = new Map<number, number>()
  private readonly l2RequestsPerCycle: number
  private readonly l2BytesPerCycle: number
  private readonly l2StoreRequestsPerCycle: number
  private readonly l2StoreBytesPerCycle: number
  private readonly dramReadPerCycle: number
  private readonly dramWritePerCycle: number
  private readonly dramCopyPerCycle: number

  constructor(
    private readonly values: ParameterValues,
    private readonly sharing: Sharing,
  ) {
    const { sms, readers } = sharing
    this.l1 = new SectorCache(Math.floor(sharing.l1Bytes / lineBytes))
    // L2 stores only one copy of data that many SMs read. The simulated SM's share of L2 is
    // therefore larger than L2 divided by the number of SMs.
    this.near = new SectorCache(
      Math.max(1, Math.floor((values.l2Bytes * Math.max(1, readers)) / sms / lineBytes)),
    )
    this.l2RequestsPerCycle = values.l2RequestsPerCycle / sms
    const shared = readers > 1 ? 1 - 1 / readers : 0
    this.l2BytesPerCycle =
      (values.l2BytesPerCycle * (1 - shared) + values.l2SharedBytesPerCycle * shared) / sms
    this.l2StoreRequestsPerCycle = values.l2StoreRequestsPerCycle / sms
    this.l2StoreBytesPerCycle = values.l2StoreBytesPerCycle / sms
    this.dramReadPerCycle = values.dramBytesPerCycle / sms
    this.dramWritePerCycle = values.dramWriteBytesPerCycle / sms
    this.dramCopyPerCycle = values.dramCopyBytesPerCycle / sms
  }

  /** Marks all following loads as belonging to a wave after the first. */
  startLaterWave(): void {
    this.leftInL2 = this.sharing.leftInL2
  }

  /** Reads sectors of a line. Returns the time at which the last of these sectors arrives. */
  load(time: number, line: number, sectors: number, throughL1: boolean): number {
    const { values, traffic } = this
    const count = countSectors(sectors)
    traffic.l1Sectors += count
    const missing = throughL1 ? this.l1.access(line, sectors) : sectors
    const found = count - countSectors(missing)
    traffic.l1Hits += found
    let done = time + values.latencyL1
    if (found > 0) done = Math.max(done, this.arrives.get(line) ?? 0)
    if (missing === 0) return done
    const filled = this.fromL2(time, line, missing) + values.latencyL2
    if (throughL1) {
      if (this.arrives.size > mostInFlight) this.forget(time)
      this.arrives.set(line, Math.max(filled, this.arrives.get(line) ?? 0))
    }
    return Math.max(done, filled)
  }

  /**
   * Reads sectors and bypasses L1. Returns the time at which the sectors leave L2, without L2's
   * latency.
   */
  fromL2(time: number, line: number, sectors: number): number {
    const { values, traffic, sharing } = this
    const count = countSectors(sectors)
    const bytes = count * sectorBytes
    traffic.l2ReadBytes += bytes
    traffic.l2Sectors += count
    const requested = this.l2.serve(
      time,
      Math.max(1 / this.l2RequestsPerCycle, bytes / this.l2BytesPerCycle),
    )
    const first = countSectors(this.near.access(line, sectors))
    let ready = requested
    if (first > 0) {
      const firstBytes = first * sectorBytes
      const fromDram = (firstBytes * (1 - this.leftInL2)) / Math.max(1, sharing.readers)
      traffic.dramReadBytes += fromDram
      traffic.l2Hits += count - fromDram / sectorBytes
      if (this.leftInL2 < 1) {
        const waiting = this.dram.serve(time, fromDram / this.dramReadPerCycle)
        ready = Math.max(ready, waiting + (values.latencyDram - values.latencyL2))
      }
    } else traffic.l2Hits += count
    return Math.max(this.port.serve(time, bytes / values.l1MissBytesPerCycle), ready)
  }

  /**
   * Writes sectors of a line. Sectors in `whole` are written completely. Each of the remaining
   * sectors receives `partBytes` bytes. Sectors in `merged` are merged with recent writes of the
   * same warp. Returns the time at which L2 and DRAM have accepted the sectors.
   */
  store(
    time: number,
    line: number,
    sectors: number,
    whole: number,
    partBytes: number,
    merged = 0,
  ): number {
    const { values, traffic } = this
    const sent = sectors & ~merged
    const bytes = countSectors(sent) * sectorBytes
    traffic.l2WriteBytes += bytes
    // L1 updates its copy of the line, and L2 receives the data.
    const fresh = countSectors(this.near.access(line, sectors))
    // A partially written sector costs as much as two fully written sectors.
    const slots = bytes + countSectors(sent & ~whole) * sectorBytes
    let taken = this.storePort.serve(time, bytes / values.storeBytesPerCycle)
    if (sent !== 0)
      taken = Math.max(
        taken,
        this.l2.serve(
          time,
          Math.max(1 / this.l2StoreRequestsPerCycle, slots / this.l2StoreBytesPerCycle),
        ),
      )
    if (fresh > 0) {
      const written = fresh * sectorBytes
      traffic.dramWriteBytes += written
      taken = Math.max(taken, this.dram.serve(time, this.dramWriteCycles(written)))
    }
    for (let sector = 0; sector < 4; sector++) {
      if (((sectors >> sector) & 1) === 0) continue
      const key = 4 * line + sector
      if ((whole >> sector) & 1) this.partial.delete(key)
      else this.writePart(key, partBytes)
    }
    return taken
  }

  private writePart(key: number, bytes: number): void {
    const written = (this.partial.get(key) ?? 0) + bytes
    if (written >= sectorBytes) this.partial.delete(key)
    else this.partial.set(key, written)
  }

  /**
   * Returns the number of DRAM cycles that a write takes. Alternating reads and writes cost more
   * than writes alone.
   */
  private dramWriteCycles(bytes: number): number {
    const { dramReadBytes, dramWriteBytes } = this.traffic
    return dramWriteBytes <= dramReadBytes
      ? 2 * (bytes / this.dramCopyPerCycle) - bytes / this.dramReadPerCycle
      : bytes / this.dramWritePerCycle
  }

  /**
   * Returns the time at which the memory has completed all requests. Call `finish` only after the
   * last warp has exited. The time includes the DRAM reads for partially written sectors.
   */
  finish(): number {
    const { values, traffic, partial } = this
    const bytes = partial.size * sectorBytes * (values.partialWriteCost - 1)
    if (bytes > 0) {
      traffic.dramReadBytes += bytes
      this.dram.serve(0, bytes / this.dramReadPerCycle)
    }
    return Math.max(this.l2.free, this.dram.free, this.storePort.free)
  }

  private forget(time: number): void {
    for (const [line, at] of this.arrives) if (at < time) this.arrives.delete(line)
  }
}
