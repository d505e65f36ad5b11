/** Parses a program's kernel launches, one per line. `cuda-kernels/activity` writes these lines. */
import type { PreviewLaunch } from '../../domain/programs/choose'

export interface ActivityLaunch extends PreviewLaunch {
  device: number
  /** Start time on CUPTI's clock, in nanoseconds. */
  startNs: bigint
}

export interface Activity {
  /** Launches, sorted by start time. */
  launches: ActivityLaunch[]
  /**
   * Whether `launches` is complete. False if there were too many launches or CUPTI lost some
   * launches.
   */
  whole: boolean
  /** Whether the program could not open CUPTI. */
  noCupti: boolean
}

/**
 * Parses complete lines. Skips the last line if it was truncated, for example because the program
 * was killed.
 */
export function parseActivity(text: string): Activity {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
  const launches = lines.flatMap((line): ActivityLaunch[] => {
    const fields = line.split('\t')
    const [device, gx, gy, gz, bx, by, bz, ns] = [0, 1, 2, 3, 4, 5, 6, 8].map((at) =>
      Number(fields[at]),
    )
    const name = fields.slice(9).join('\t')
    if (name === '' || ![device, gx, gy, gz, bx, by, bz, ns].every(Number.isFinite)) return []
    if (!/^\d+$/.test(fields[7]!)) return []
    return [
      {
        ...{ device: device!, name, range: null },
        ...{ grid: [gx!, gy!, gz!], block: [bx!, by!, bz!] },
        startNs: BigInt(fields[7]!),
        ms: ns! / 1e6,
      },
    ]
  })
  launches.sort((a, b) => (a.startNs < b.startNs ? -1 : a.startNs > b.startNs ? 1 : 0))
  return {
    launches,
    whole: !lines.includes('more') && !lines.includes('lost'),
    noCupti: lines.includes('no-cupti'),
  }
}
