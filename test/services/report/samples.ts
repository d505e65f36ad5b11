/** Sample sessions for report tests: recorded, malicious, and failed sessions. */
import { join } from 'node:path'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { RungResult, Session, Timing } from '../../../src-main/domain/session/session'
import { root } from '../support'
import type { DeepProfile, Instruction, Work } from '../../../src-main/domain/session/deep'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { toDeepProfiles } from '../../../src-main/parsers/ncu/ncu-deep'
import { parseSourcePage } from '../../../src-main/parsers/ncu/ncu-source'
import { ncuCapture } from '../../captures'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-advice'
import type { Privates } from '../../../src-main/adapters/machine/machine-identity'

const folder = join(root, 'test/captures/sessions/gemm-fp32-h200-4096')
const session = await readSession(folder)
const { texts: sources } = await readSources(folder, session)

/** A page with the same placeholders as the built page. */
export const template =
  '<!doctype html><html><title><!--report-title--></title><body>\n<!--report-data--><script></script>\n'

/** The built page, which has its script at the end. */
export const builtTemplate = `${template.replace('</script>', '<!--report-ui--></script>')}<!--report-script-->draw()`

export const noPrivates: Privates = { folders: [], words: [] }

/** Returns a copy of the recording that a test may change. */
export const recording = (): { session: Session; sources: Record<string, string> } =>
  structuredClone({ session, sources })

export type Sample = ReturnType<typeof recording>

export function editRung(sample: Sample, id: string, change: Partial<RungResult>): Sample {
  const rung = sample.session.rungs.find((candidate) => candidate.id === id)
  if (!rung) throw new Error(`no rung ${id}`)
  Object.assign(rung, change)
  return sample
}

/**
 * Returns a timing with every sample multiplied by a factor. If `spread` is given, the samples have
 * that spread.
 */
export function stretched(timing: Timing, factor: number, spread = timing.spread): Timing {
  const wider = timing.spread > 0 ? spread / timing.spread : 1
  return {
    ...timing,
    medianMs: timing.medianMs * factor,
    gflops: timing.gflops! / factor,
    spread,
    samplesMs: timing.samplesMs.map(
      (ms) => factor * (timing.medianMs + (ms - timing.medianMs) * wider),
    ),
  }
}

/** Returns a sample in which the time of one rung is multiplied by a factor. */
export function slowed(sample: Sample, id: string, factor: number, spread?: number): Sample {
  const timing = sample.session.rungs.find((rung) => rung.id === id)!.timing!
  return editRung(sample, id, { timing: stretched(timing, factor, spread) })
}

/** Returns a session without counters. No rung in the session has any metric. */
export function withoutMetrics(): Sample {
  const sample = recording()
  sample.session.settings.profile = 'none'
  for (const rung of sample.session.rungs) Object.assign(rung, { metrics: {}, profile: null })
  return sample
}

/** Returns a session with a rung for each kind of failure. */
export function withTroubles(): Sample {
  const sample = recording()
  const bare = { timing: null, verify: null, profile: null, metrics: {} }
  editRung(sample, '03_shared_tile', {
    ...bare,
    status: 'failed',
    reason: 'It does not compile.',
    diagnostics: [
      { severity: 'error', file: 'gemm/03_shared_tile.cu', line: 12, message: 'expected a ";"' },
    ],
  })
  editRung(sample, '04_thread_tile_1d', { ...bare, status: 'wrong', reason: '7 of 16 differ.' })
  return editRung(sample, '05_thread_tile_2d', {
    ...bare,
    status: 'unsupported',
    reason: 'needs sm_120',
    metrics: {
      sharedLoads: {
        value: null,
        unit: 'inst',
        evidence: 'unavailable',
        reason: 'It did not run.',
      },
    },
  })
}

export const hostile = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '=HYPERLINK("http://evil.example","x")',
  '+1|cmd',
  '-2+3',
  '@SUM(A1)',
  '\tfirst a tab',
  '\rfirst a return',
  '\\input{/etc/passwd} \\write18{x} $x$ #1 %y & ~ ^ _ { } `` -- |',
  '**bold** _it_ `code` ``` ~~~ [a](javascript:b) ![i](http://x) | # h \n\n# heading\n- item\n1. one',
  '</details></table><!-- <b>',
  'abc\u202edcba\u2066\u200f\u061c',
  'a,"b"\r\nc;d',
  'www.evil.example @someone #42 https://evil.example/x',
  '\u0000\u001b[31m\ud800',
]

const all = hostile.join(' ')

/** Returns a session with malicious strings in all texts from tools or users. */
export function withHostileStrings(): Sample {
  const sample = withTroubles()
  const { session: own, sources: texts } = sample
  own.id = all
  own.warnings = [...hostile]
  own.ladder.title = all
  own.settings.nvccFlags = [...hostile]
  own.device!.name = all
  own.device!.driver = '=1+1'
  own.rungs.forEach((rung, index) => {
    rung.title = hostile[index % hostile.length]!
    rung.idea = all
    if (rung.status !== 'ok') rung.reason = all
    if (rung.diagnostics[0]) rung.diagnostics[0].message = all
    texts[rung.id] = `// ${rung.id}\n\`\`\`\`\n</details>\n\u202e\n${texts[rung.id]}`
  })
  return sample
}

// Functions for sample deep profiles. The profiles are ncu's output for one kernel on an H200, with
// the names of other rungs.

const captured = toDeepProfiles(parseNcuRawCsv(ncuCapture('import-set-full')).launches, {
  sass: { sections: [], unreadable: 0 },
  lines: parseSourcePage(ncuCapture('source-cuda-sass')),
  rules: parseRules(ncuCapture('import-details')),
  nameOf: (path) => path.split('/').pop()!,
}).get('03_a')!

/** Returns a copy of the deep profile that a test may change. */
export const deepProfile = (rung: string): DeepProfile => ({ ...structuredClone(captured), rung })

/** Returns a profile as large as that of a long unrolled kernel, with varied counts. */
export function largeProfile(rung: string, instructions: number): DeepProfile {
  const profile = deepProfile(rung)
  let seed = [...rung].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7)
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647
  const varied = <T extends Work>(work: T): T => ({
    ...work,
    samples: Math.floor(random() * 4000),
    notIssuedSamples: Math.floor(random() * 2000),
    stalls: Object.fromEntries(
      ['long_sb', 'short_sb', 'mio', 'math', 'wait', 'selected', 'not_selected', 'dispatch']
        .filter(() => random() < 0.6)
        .map((reason) => [reason, 1 + Math.floor(random() * 900)]),
    ),
  })
  for (const kernel of profile.kernels) {
    const base = kernel.instructions
    kernel.instructions = Array.from({ length: instructions }, (_, index): Instruction => {
      const like = base[index % base.length]!
      const text = like.text.replaceAll(/\bR\d+/g, () => `R${Math.floor(random() * 250)}`)
      return varied({ ...like, index, offset: index * 16, text })
    })
    kernel.lines = kernel.lines.map(varied)
  }
  return profile
}
