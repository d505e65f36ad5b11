/** Combines the rungs' measurements with their profiles. The functions are pure. */
import { withSmallWaves } from '../../domain/analysis/derived-metrics'
import { message } from '../../domain/messages/message'
import type { Finding } from './finding'
import type { ProfileOutcome } from './profile'
import type { Device } from '../../domain/gpu/device'

/** Returns each rung with its counters, or with the reason that it has no counters. */
export function withProfiles(
  rungs: ReadonlyMap<string, Finding>,
  { profiles, trouble }: Pick<ProfileOutcome, 'profiles' | 'trouble'>,
  skipped: ReadonlySet<string>,
  device: Device,
): Map<string, Finding> {
  const withProfile = (id: string, finding: Finding): Finding => {
    const own = profiles.get(id)
    if (own) {
      const launches = finding.launches ?? own.profile.kernels
      const metrics = withSmallWaves(own.metrics, launches, device)
      return { ...finding, profile: own.profile, metrics }
    }
    const uncounted = skipped.has(id)
      ? message('records.profilingSkipped')
      : (trouble?.message ?? message('records.noLaunchReported'))
    return { ...finding, uncounted }
  }
  return new Map([...rungs].map(([id, finding]) => [id, withProfile(id, finding)]))
}
