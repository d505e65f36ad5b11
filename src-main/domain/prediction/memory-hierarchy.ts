/**
 * The memory of one SM: its L1 by lines and sectors, and its share of L2 and DRAM. What other SMs read of the same lines
 * at the same time comes in as shares that were found by looking at the first instructions of all blocks of a wave.
 */
import type { ParameterValues } from './parameter-table'
import { lineBytes, sectorBytes } from './memory-units'
import { SectorCache, countSectors } from './sector-cache'
import { Server } from './servers'

/** How the SMs that run at the same time share what they read. */
export interface Sharing {
  /** SMs at work. */
  readonly sms: number
  /** SMs, on average, that read a sector at about the same time. */
  readonly readers: number
  /** Share of the first reads of a wave that the wave before has left in L2, 0 to 1; the first wave finds nothing. */
  readonly leftInL2: number
  /** Bytes of L1 beside the shared memory of the blocks. */
  readonly l1Bytes: number
}

/** Bytes and hits of one SM. */
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

/** Fills of L1 that are on their way are told apart from lines that are there by when they come. */
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
  /** When the sectors of a line come that were asked for last. */
  private readonly arrives = new Map<number, number>()
  /** Bytes written of sectors that were never written whole, by sector number. */
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
    // What many SMs read takes room in L2 once.
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

  /** The blocks that come from now on are of a later wave. */
  startLaterWave(): void {
    this.leftInL2 = this.sharing.leftInL2
  }

  /** Reads sectors of a line; returns when the last of them is there. */
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

  /** Reads sectors past L1; returns when they leave L2, without its latency. */
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
   * Writes sectors, of which those in `whole` are written whole and the others `partBytes` each; those in `merged` join
   * what the same warp has just written of them. Returns when L2 and DRAM have taken them.
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
    // L1 keeps what it has of the line up to date; L2 has what was written.
    const fresh = countSectors(this.near.access(line, sectors))
    // A sector that is written in part takes the place of two.
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

  /** Reads and writes that alternate cost more than either alone. */
  private dramWriteCycles(bytes: number): number {
    const { dramReadBytes, dramWriteBytes } = this.traffic
    return dramWriteBytes <= dramReadBytes
      ? 2 * (bytes / this.dramCopyPerCycle) - bytes / this.dramReadPerCycle
      : bytes / this.dramWritePerCycle
  }

  /** What is left to do when the last warp has ended: sectors that were never written whole are read first. */
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
