import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isHtmlFile } from '../../../src-main/adapters/sessions/report-file'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { importHtml } from '../../../src-main/services/import/import-report'
import { reportHtml } from '../../../src-main/services/report'
import { noPrivates, recording, template, withTroubles, type Sample } from '../report/samples'
import { tempDir } from '../support'

async function written(...samples: [Sample] | [Sample, Sample]) {
  const dir = await tempDir()
  const path = join(dir, 'report.html')
  await writeFile(path, reportHtml(samples, {}, template, noPrivates))
  return { dir, path, store: join(dir, 'store') }
}

describe('an HTML report', () => {
  it('is distinguished from ncu’s files by its first bytes', async () => {
    const { dir, path } = await written(recording())
    expect(await isHtmlFile(path)).toBe(true)
    await writeFile(join(dir, 'x.csv'), '"ID","Process ID"')
    for (const other of ['x.csv', 'nope', '.'])
      expect(await isHtmlFile(join(dir, other))).toBe(false)
  })

  it('is imported as the session it was made of, sources with it', async () => {
    for (const sample of [recording(), withTroubles()]) {
      const { path, store } = await written(sample)
      const { session, folder } = await importHtml(path, { store })
      expect(session).toEqual(sample.session)
      const saved = await readSession(folder)
      expect(saved).toEqual(sample.session)
      expect((await readSources(folder, saved)).texts).toEqual(sample.sources)
      // A second time stands beside the first.
      expect((await importHtml(path, { store })).folder).toBe(`${folder}-2`)
    }
  })

  it('of two sessions asks which', async () => {
    const after = recording()
    after.session.id = 'after'
    const { path, store } = await written(recording(), after)
    await expect(importHtml(path, { store })).rejects.toThrow(/two sessions.*/)
    expect((await importHtml(path, { store, which: 'second' })).session.id).toBe('after')
    const single = await written(recording())
    await expect(importHtml(single.path, { store, which: 'second' })).rejects.toThrow(
      'contains only one session',
    )
  })

  it.each(['../../evil.cu', '/etc/passwd', 'a/../../b.cu', '.hidden', 'a\\..\\b', ''])(
    'writes no source outside of its session: %j',
    async (file) => {
      const sample = recording()
      sample.session.id = '../../x'
      sample.session.rungs[1]!.file = file
      const { dir, path, store } = await written(sample)
      const { folder } = await importHtml(path, { store })
      expect(folder.startsWith(store)).toBe(true)
      expect((await readdir(dir)).sort()).toEqual(['report.html', 'store'])
      expect(await readdir(store)).toEqual(['x'])
      const sources = await readdir(join(folder, 'sources', 'gemm'))
      expect(sources).toHaveLength(sample.session.rungs.length - 1)
    },
  )

  it('leaves nothing behind when it cannot be read or saved', async () => {
    const { dir, path, store } = await written(recording())
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.slice(0, -2000).replace('</script>', ''))
    await expect(importHtml(path, { store })).rejects.toThrow('report.html')
    await expect(importHtml(path, { store, out: dir })).rejects.toThrow()
    expect(await readdir(dir)).toEqual(['report.html'])
  })
})
