/**
 * Checks the output file that a user's program writes. Tests whether the file exists, computes its
 * hash, and compares it with the expected output.
 */
import { createHash } from 'node:crypto'
import { copyFile, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { message, type Statement } from '../../domain/messages/message'
import type { ProgramOutput } from '../../domain/ladder/program-ladder'
import { elementBytes, outputCheck } from '../../domain/programs/output'
import type { ProgramRun, Verify } from '../../domain/session/session'
import { errorCode } from '../disk/disk'

/** A value that differs between two versions of a file. */
type FileMark = string

/** Returns a file's version mark, or null if the file does not exist. */
export const markOf = (path: string): Promise<FileMark | null> =>
  stat(path, { bigint: true }).then(
    (found) => (found.isFile() ? `${found.ino}:${found.size}:${found.mtimeNs}` : null),
    () => null,
  )

export const keepExpected = (from: string, scratch: string): Promise<string> => {
  const kept = join(scratch, 'expected')
  return copyFile(from, kept).then(() => kept)
}

/** Number of bytes per read, a multiple of every element's size. */
const pieceBytes = 4 * 2 ** 20

interface CheckedOutput {
  output: NonNullable<ProgramRun['output']>
  /** Verification result, or null if there is no expected output. */
  verify: Verify | null
  /** Reason why the output is wrong, or null if the output is correct. */
  reason: Statement | null
}

/** Reads the whole output file once, together with the expected file. Disk errors are thrown. */
export async function checkOutput(
  path: string,
  expectedPath: string | null,
  rule: ProgramOutput,
): Promise<CheckedOutput> {
  const { size } = await stat(path)
  const hash = createHash('sha256')
  const check = outputCheck(rule)
  const expectedSize = expectedPath === null ? null : (await stat(expectedPath)).size
  const isPart = size % elementBytes(rule) !== 0
  const compared = !isPart && expectedSize === size
  const own = await open(path)
  const other = compared && expectedPath !== null ? await open(expectedPath) : null
  try {
    const [found, wanted] = [Buffer.alloc(pieceBytes), Buffer.alloc(other ? pieceBytes : 0)]
    for (let at = 0; at < size; at += pieceBytes) {
      const length = Math.min(pieceBytes, size - at)
      await readWhole(own, found, length, at)
      hash.update(found.subarray(0, length))
      if (!other) continue
      await readWhole(other, wanted, length, at)
      check.add(wanted.subarray(0, length), found.subarray(0, length))
    }
  } finally {
    await own.close()
    await other?.close()
  }
  const output = { file: rule.file, bytes: size, sha256: hash.digest('hex') }
  if (isPart)
    return {
      ...{ output, verify: null },
      reason: message('programs.outputPart', { file: rule.file, bytes: size, dtype: rule.dtype! }),
    }
  if (expectedSize === null) return { output, verify: null, reason: null }
  if (!compared)
    return {
      ...{ output, verify: null },
      reason: message('programs.outputSize', {
        file: rule.file,
        bytes: size,
        expected: expectedSize,
      }),
    }
  const verify = check.verify()
  const first = verify.firstMismatch
  const values = {
    count: verify.mismatches,
    file: rule.file,
    index: first?.index[0] ?? 0,
    actual: first?.actual ?? 'NaN',
    expected: first?.expected ?? 'NaN',
  }
  const reason = verify.passed
    ? null
    : rule.dtype === undefined
      ? message('programs.outputBytes', values)
      : message('programs.outputValues', { ...values, total: check.total })
  return { output, verify, reason }
}

async function readWhole(
  file: Awaited<ReturnType<typeof open>>,
  into: Buffer,
  length: number,
  at: number,
): Promise<void> {
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(into, done, length - done, at + done)
    if (bytesRead === 0) throw new Error('it became shorter while it was read')
    done += bytesRead
  }
}

export const unreadable = (file: string, error: unknown): Statement =>
  message('programs.outputUnreadable', {
    file,
    text: errorCode(error) ?? (error instanceof Error ? error.message : String(error)),
  })
