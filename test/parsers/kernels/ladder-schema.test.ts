import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ladderSchema } from '../../../src-main/domain/ladder/ladder-schema'

const root = join(import.meta.dirname, '../../..')
const templates = join(root, 'resources/templates')

describe('the schema of ladder.yaml', () => {
  const check = new Ajv2020({ strict: false }).compile(ladderSchema())

  it.each(readdirSync(templates))('takes the template %s, and no key that is none', (name) => {
    const document = parse(readFileSync(join(templates, name, 'ladder.yaml'), 'utf8')) as {
      task: object
    }
    expect(check(document), JSON.stringify(check.errors)).toBe(true)
    expect(check({ ...document, sizes: {} })).toBe(false)
    expect(check({ ...document, task: { ...document.task, size: {} } })).toBe(false)
  })
})
