/**
 * The timing of barriers and mbarriers. Warps wait at a barrier until all participants have
 * arrived.
 */
import type { WarpState } from './warp-state'
import type { LaunchTrace } from './warp-trace'

export interface Meeting {
  /** Number of arrivals that are still expected. */
  left: number
  /** Time of the last arrival so far, in cycles. */
  latest: number
  waiting: { warp: WarpState; reason: number }[]
}

/** Maximum number of phases per barrier. */
const mostPhases = 2 ** 22

export class Meetings {
  private readonly meetings = new Map<number, Meeting>()

  /**
   * @param resume Called to resume a warp that waited until `latest` for the given stall reason.
   */
  constructor(
    private readonly arrivals: LaunchTrace['arrivals'],
    private readonly resume: (warp: WarpState, latest: number, reason: number) => void,
  ) {}

  of(id: number, phase: number): Meeting {
    const key = id * mostPhases + phase
    let found = this.meetings.get(key)
    if (!found) {
      found = { left: this.arrivals[id]![phase]!, latest: 0, waiting: [] }
      this.meetings.set(key, found)
    }
    return found
  }

  arrive(id: number, phase: number, time: number): void {
    const meeting = this.of(id, phase)
    meeting.latest = Math.max(meeting.latest, time)
    if (--meeting.left <= 0) this.release(meeting)
  }

  /**
   * Releases all waiting warps. Returns false if no warp was waiting. The trace lists a warp's
   * lanes one after another, so waiting lanes can precede the lanes that they wait for.
   */
  releaseAll(): boolean {
    const waiting = [...this.meetings.values()].filter((meeting) => meeting.waiting.length > 0)
    for (const meeting of waiting) this.release(meeting)
    return waiting.length > 0
  }

  private release(meeting: Meeting): void {
    for (const { warp, reason } of meeting.waiting) this.resume(warp, meeting.latest, reason)
    meeting.waiting = []
  }
}
