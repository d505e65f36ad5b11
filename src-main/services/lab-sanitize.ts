/** compute-sanitizer over a submission, for the checks of its lab that ask for it. */
import type { KernelLibrary } from '../adapters/kernel-library'
import type { SanitizerVerdicts } from '../adapters/lab-attempt'
import type { Lab } from '../domain/lab'

/** By id of the check: what each tool came to, or why none ran. */
export async function sanitizeSubmission(
  lab: Lab,
  _library: KernelLibrary,
  _options: { signal: AbortSignal },
): Promise<SanitizerVerdicts> {
  return Object.fromEntries(
    lab.checks.flatMap((check) =>
      check.kind === 'sanitizer'
        ? [[check.id, { reason: 'compute-sanitizer is not run by this version.' }]]
        : [],
    ),
  )
}
