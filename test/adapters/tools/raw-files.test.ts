/**
 * Tests raw tool output: raw.jsonl rows, compressed recordings, and the folders of older sessions.
 */
import { appendFile, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
} from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../src-main/adapters/disk/build-cache'
import {
  copyRaw,
  openRaw,
  packRecordedRaw,
  rawRecorder,
  readRaw,
} from '../../../src-main/adapters/tools/raw-files'
import type { RawCall } from '../../../src-main/adapters/tools/toolbox'
import { tempDir } from '../../services/support'
import { message } from '../../../src-main/domain/messages/message'
import { recordedRaw } from '../../../src-main/adapters/tools/recorded-raw'

const call = (key: string, startedAt = '2026-11-21T02:45:00.000Z'): RawCall => ({
  key,
  tool: 'ncu',
  argv: ['ncu', '--version'],
  outcome: 'exited',
  exitCode: 0,
  signal: null,
  seconds: 1.25,
  startedAt,
})

const linesOf = async (folder: string): Promise<string[]> =>
  (await readFile(join(folder, 'raw.jsonl'), 'utf8')).split('\n').filter(Boolean)

/** Writes a session's raw output in the format of an older version. */
async function older(): Promise<string> {
  const dir = await tempDir()
  const ncu = join(dir, 'raw', 'ncu')
  await mkdir(ncu, { recursive: true })
  await writeFile(join(ncu, 'page.json'), JSON.stringify(call('ncu/page', '2026-11-21T02:46:00Z')))
  await writeFile(join(ncu, 'page.stdout.txt.gz'), gzipSync('a page\n'))
  await writeFile(join(ncu, 'version.json'), JSON.stringify(call('ncu/version')))
  await writeFile(join(ncu, 'version.stdout.txt'), 'ncu 2025.3\n')
  await writeFile(join(ncu, 'version.stderr.txt'), 'hm\n')
  return dir
}

describe('raw.jsonl', () => {
  it('has one row per call, and rows are read back unchanged', async () => {
    const dir = await tempDir()
    const recorder = rawRecorder(dir, [])
    await recorder.record({ ...call('ncu/a'), reused: true }, 'out\n\u2028"ä"\n', '')
    await recorder.record({ ...call('ncu/b'), outcome: 'signalled', signal: 'SIGSEGV' }, '', 'err')
    expect(await linesOf(dir)).toHaveLength(2)
    expect(await readRaw(dir, 'ncu/a')).toEqual({
      call: { ...call('ncu/a'), reused: true },
      stdout: 'out\n\u2028"ä"\n',
      stderr: '',
    })
    expect(await readRaw(dir, 'ncu/b')).toMatchObject({
      call: { signal: 'SIGSEGV' },
      stderr: 'err',
    })
    expect(await readRaw(dir, 'ncu/c')).toBeNull()
  })

  it('stores a 1 MB stream with gzip compression, and this machine’s folders as placeholders', async () => {
    const dir = await tempDir()
    const text = 'at /home/someone/cache/x.cu\n'.repeat(40_000)
    const own = { ...call('ncu/page'), argv: ['/home/someone/ncu'] }
    await rawRecorder(dir, [{ path: '/home/someone', alias: '~' }]).record(own, text, 'short')
    const [line] = await linesOf(dir)
    const { argv, stdout } = JSON.parse(line!) as { argv: string[]; stdout: { gzip: string } }
    expect(argv).toEqual(['~/ncu'])
    expect(line!.length).toBeLessThan(10_000)
    expect(gunzipSync(Buffer.from(stdout.gzip, 'base64')).toString()).not.toContain('someone')
    expect(await readRaw(dir, 'ncu/page')).toMatchObject({
      stdout: text.replaceAll('/home/someone', '~'),
      stderr: 'short',
    })
  })

  it('has complete rows even if many calls end at the same time', async () => {
    const dir = await tempDir()
    const recorder = rawRecorder(dir, [])
    const keys = Array.from({ length: 40 }, (_, index) => `nvcc/rung_${index}`)
    await Promise.all(
      keys.map((key, index) => recorder.record(call(key), key.repeat(20_000 * (index % 3)), key)),
    )
    const raw = await openRaw(dir)
    expect([...raw.keys].sort()).toEqual(keys.toSorted())
    for (const key of keys) expect((await raw.get(key))!.stderr).toBe(key)
  })

  it('omits and reports only the row that cannot be written', async () => {
    const dir = await tempDir()
    const recorder = rawRecorder(dir, [])
    await recorder.record(call('ncu/a'), 'a', '')
    // Simulate a disk that fills up in the middle of a row.
    const probe = await open(join(dir, 'raw.jsonl'))
    const handles = Object.getPrototypeOf(probe) as typeof probe
    await probe.close()
    const whole = handles.appendFile
    handles.appendFile = async function (this: typeof probe, row) {
      await whole.call(this, (row as string).slice(0, 20))
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    }
    try {
      await recorder.record(call('ncu/b'), 'b', '')
    } finally {
      handles.appendFile = whole
    }
    await recorder.record(call('ncu/c'), 'c', '')
    expect((await openRaw(dir)).keys).toEqual(['ncu/a', 'ncu/c'])
    expect(await recorder.lostFrom(dir)).toEqual({ keys: ['ncu/b'], why: message('files.rawFull') })
  })

  it('uses the later of two rows with the same key', async () => {
    const dir = await tempDir()
    const recorder = rawRecorder(dir, [])
    await recorder.record(call('ncu/a'), 'first', '')
    await recorder.record(call('ncu/a'), 'second', '')
    expect((await readRaw(dir, 'ncu/a'))!.stdout).toBe('second')
  })

  it.each([
    ['truncated', '{"key":"ncu/b",', /raw\.jsonl:2 is damaged: it is not JSON/],
    ['of the wrong shape', '{"key":"ncu/b"}', /raw\.jsonl:2 is damaged/],
  ])(
    'with a row that is %s is rejected with an error that names the file and row',
    async (_what, row, message) => {
      const dir = await tempDir()
      await rawRecorder(dir, []).record(call('ncu/a'), 'a', '')
      await appendFile(join(dir, 'raw.jsonl'), row)
      await expect(readRaw(dir, 'ncu/a')).rejects.toMatchObject({
        kind: 'input',
        message: expect.stringMatching(message) as string,
      })
    },
  )

  it("with a stream that cannot be unpacked is rejected when that stream's call is read", async () => {
    const dir = await tempDir()
    await rawRecorder(dir, []).record(call('ncu/a'), 'a', '')
    const bad = { ...call('ncu/page'), stdout: { gzip: 'bm8gZ3ppcA==' }, stderr: '' }
    await appendFile(join(dir, 'raw.jsonl'), `${JSON.stringify(bad)}\n`)
    const raw = await openRaw(dir)
    expect((await raw.get('ncu/a'))!.stdout).toBe('a')
    await expect(raw.get('ncu/page')).rejects.toThrow(
      /stdout of ncu\/page in .* cannot be unpacked/,
    )
  })

  it('with a stream that expands endlessly is rejected before the stream fills memory', async () => {
    const dir = await tempDir()
    const megabyte = gzipSync(Buffer.alloc(2 ** 20))
    const bomb = Buffer.concat(Array.from({ length: 257 }, () => megabyte)).toString('base64')
    const row = { ...call('ncu/page'), stdout: { gzip: bomb }, stderr: '' }
    await appendFile(join(dir, 'raw.jsonl'), `${JSON.stringify(row)}\n`)
    await expect(readRaw(dir, 'ncu/page')).rejects.toThrow(
      /stdout of ncu\/page in .*raw\.jsonl:1 is damaged: it expands to more than 256 MiB\./,
    )
  })

  it.each(['ncu', '../x', 'a/../b', 'a/b/c'])('rejects a call named %j', async (key) => {
    await expect(rawRecorder(await tempDir(), []).record(call(key), '', '')).rejects.toThrow(key)
  })
})

describe("a recording's raw output", () => {
  const long = 'address,sass,samples\n0x7f00,FFMA R1,12\n'.repeat(8_000)

  /**
   * Creates a session folder with one short call and one call whose output is stored compressed.
   */
  async function session(): Promise<string> {
    const dir = await tempDir()
    const recorder = rawRecorder(dir, [])
    await recorder.record(call('ncu/version'), 'ncu 2025.3\n', 'hm\n')
    await recorder.record(call('ncu/page'), long, '')
    return dir
  }

  /** Creates a recording folder with the given bytes as the raw output. */
  async function recordingOf(bytes: Buffer): Promise<string> {
    const folder = join(await tempDir(), 'mine')
    await mkdir(join(folder, '../raw'))
    await writeFile(recordedRaw(folder), bytes)
    return folder
  }

  const contentOf = (bytes: Buffer): string => brotliDecompressSync(bytes).toString('utf8')

  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

  it('is read like the raw output of the session that it was created from', async () => {
    const dir = await session()
    const folder = await recordingOf(await packRecordedRaw(dir))
    const [own, recorded] = [await openRaw(dir), await openRaw(folder)]
    expect(recorded.keys).toEqual(own.keys)
    for (const key of own.keys) expect(await recorded.get(key)).toEqual(await own.get(key))
    expect(await recorded.get('ncu/none')).toBeNull()
  })

  it('is stored as a single file instead of a folder', () => {
    expect(recordedRaw(join('recordings', 'mine'))).toBe(join('recordings', 'raw', 'mine.jsonl.br'))
  })

  it('compresses long streams separately, so that opening the file does not unpack them', async () => {
    const content = contentOf(await packRecordedRaw(await session()))
    expect(content.length).toBeLessThan(2000)
    const page = JSON.parse(content.trim().split('\n').at(-1)!) as { stdout: { brotli: string } }
    expect(contentOf(Buffer.from(page.stdout.brotli, 'base64'))).toBe(long)
  })

  it('has the same bytes for the same output, even if packed again', async () => {
    const dir = await session()
    const bytes = await packRecordedRaw(dir)
    expect(await packRecordedRaw(dir)).toEqual(bytes)
    expect(await packRecordedRaw(await recordingOf(bytes))).toEqual(bytes)
  })

  it('can be edited while it is packed, in both short and long streams', async () => {
    const dir = await session()
    for (const folder of [dir, await recordingOf(await packRecordedRaw(dir))]) {
      const edited = await packRecordedRaw(folder, (text) =>
        text.replaceAll('FFMA', 'HFMA2').replace('hm', 'no'),
      )
      const own = await recordingOf(edited)
      expect((await readRaw(own, 'ncu/version'))!.stderr).toBe('no\n')
      expect((await readRaw(own, 'ncu/page'))!.stdout).toBe(long.replaceAll('FFMA', 'HFMA2'))
    }
  })

  it('becomes the original raw.jsonl when copied to a session', async () => {
    const [dir, target] = [await session(), await tempDir()]
    await copyRaw(await recordingOf(await packRecordedRaw(dir)), target)
    expect(await linesOf(target)).toEqual(await linesOf(dir))
  })

  it('is not read if the session has its own folder with raw output', async () => {
    const folder = await recordingOf(await packRecordedRaw(await session()))
    await mkdir(folder)
    await rawRecorder(folder, []).record(call('ncu/own'), 'own', '')
    expect((await openRaw(folder)).keys).toEqual(['ncu/own'])
  })

  const refusal = (file: string, why: string) => ({
    kind: 'input',
    message: `${file} is damaged: ${why}`,
    remedy: message('files.rawLeft'),
  })

  it('that is truncated at any point is rejected with an error that names the file', async () => {
    const bytes = await packRecordedRaw(await session())
    for (const length of [0, 1, 100, bytes.length - 1]) {
      const folder = await recordingOf(bytes.subarray(0, length))
      await expect(openRaw(folder)).rejects.toMatchObject(
        refusal(recordedRaw(folder), 'it cannot be unpacked.'),
      )
    }
  })

  it('with a changed byte is either rejected or read correctly', async () => {
    const dir = await tempDir()
    await rawRecorder(dir, []).record(call('ncu/version'), 'ncu 2025.3\n', 'hm\n')
    const bytes = await packRecordedRaw(dir)
    const folder = await recordingOf(bytes)
    const whole = await readRaw(folder, 'ncu/version')
    let refused = 0
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1 << (at % 8)
      await writeFile(recordedRaw(folder), changed)
      const read = await readRaw(folder, 'ncu/version').catch((error: unknown) => {
        expect(String(error)).toMatch(
          /mine\.jsonl\.br is damaged: (it cannot be unpacked|its content does not match its checksum)\./,
        )
        refused += 1
        return whole
      })
      expect(read, `byte ${at}`).toEqual(whole)
    }
    expect(refused).toBeGreaterThan(bytes.length * 0.95)
  })

  it('with a changed value is rejected by our checksum, because Brotli has no checksum', async () => {
    const content = contentOf(await packRecordedRaw(await session()))
    const folder = await recordingOf(brotliCompressSync(content.replace('2025.3', '2025.4')))
    await expect(openRaw(folder)).rejects.toMatchObject(
      refusal(recordedRaw(folder), 'its content does not match its checksum.'),
    )
  })

  it('that expands endlessly is rejected before it fills memory', async () => {
    const folder = await recordingOf(brotliCompressSync(Buffer.alloc(65 * 2 ** 20), fast))
    await expect(openRaw(folder)).rejects.toMatchObject(
      refusal(recordedRaw(folder), 'it expands to more than 64 MiB.'),
    )
  })

  it('with a row of an invalid shape is rejected with an error that names the file and row', async () => {
    const rows = '{"key":"ncu/b"}\n'
    const folder = await recordingOf(
      brotliCompressSync(`${JSON.stringify({ sha256: sha256(rows) })}\n${rows}`),
    )
    await expect(openRaw(folder)).rejects.toThrow(/mine\.jsonl\.br:2 is damaged/)
  })
})

describe('the raw-output folder of an older version', () => {
  it('is read in call order, with missing streams as empty', async () => {
    const dir = await older()
    const raw = await openRaw(dir)
    expect(raw.keys).toEqual(['ncu/version', 'ncu/page'])
    expect(await raw.get('ncu/version')).toEqual({
      call: call('ncu/version'),
      stdout: 'ncu 2025.3\n',
      stderr: 'hm\n',
    })
    expect(await raw.get('ncu/page')).toMatchObject({ stdout: 'a page\n', stderr: '' })
  })

  it('is converted to rows when copied, and further copies are identical', async () => {
    const [dir, first, second] = [await older(), await tempDir(), await tempDir()]
    await copyRaw(dir, first)
    await copyRaw(first, second)
    expect(await linesOf(second)).toEqual(await linesOf(first))
    for (const key of ['ncu/version', 'ncu/page'])
      expect(await readRaw(second, key)).toEqual(await readRaw(dir, key))
  })

  it('is rejected with an error that names the damaged file', async () => {
    const dir = await older()
    await writeFile(join(dir, 'raw', 'ncu', 'version.json'), '{')
    await expect(openRaw(dir)).rejects.toThrow(/version\.json is damaged/)
  })
})
