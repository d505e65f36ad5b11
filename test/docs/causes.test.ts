/** docs/WHY.md, and the judgements of first causes that it counts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  causeKey,
  causesPart,
  readJudged,
  recordedSteps,
  stepKey,
} from '../../scripts/lib/causes-doc'
import { documentWith } from '../../scripts/lib/document.mjs'
import { root } from '../services/support'

const recorded = await recordedSteps(join(root, 'resources/recordings'))
const judged = readJudged(root)

describe('docs/WHY.md', () => {
  it('is what `npm run readme -- causes` writes', async () => {
    const text = await documentWith('docs/WHY.md', [['causes', causesPart(recorded, judged)]])
    expect(readFileSync(join(root, 'docs/WHY.md'), 'utf8')).toBe(text)
  })

  it('gives with two shares of the time the factor between them', () => {
    const text = readFileSync(join(root, 'docs/WHY.md'), 'utf8')
    const told = [
      ...text.matchAll(
        /busy for (?:only )?([\d.]+) % of the time instead of ([\d.]+) %, ([\d.]+)×/g,
      ),
    ].map(([, b, a, factor]) => [Number(b) / Number(a), Number(factor)] as const)
    expect(told.length).toBeGreaterThan(50)
    for (const [quotient, factor] of told)
      expect(
        Math.abs(Math.log(quotient > 1 ? quotient : 1 / quotient) - Math.log(factor)),
      ).toBeLessThan(0.04)
  })

  it('counts first causes that someone read, and no others', () => {
    const told = recorded.flatMap(({ recording, steps }) =>
      steps.flatMap((step) => {
        const cause = causeKey(step)
        return cause === null ? [] : [`${recording}, ${stepKey(step)}: ${cause}`]
      }),
    )
    const known = Object.entries(judged).flatMap(([recording, steps]) =>
      Object.entries(steps).map(([step, { cause }]) => `${recording}, ${step}: ${cause}`),
    )
    expect(told.toSorted()).toEqual(known.toSorted())
  })
})
