/** Adds the interpreter to commands that start a script, because ncu can start only binaries. */
import { access, constants, open } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

async function pathOf(program: string, cwd: string): Promise<string | null> {
  const places = program.includes('/')
    ? [resolve(cwd, program)]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  for (const place of places)
    if (
      await access(place, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return place
  return null
}

async function isScript(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => null)
  try {
    const start = await file?.read(Buffer.alloc(2), 0, 2, 0).catch(() => null)
    return start?.buffer.toString('latin1') === '#!'
  } finally {
    await file?.close()
  }
}

/**
 * Returns a command that ncu can start. A script is started through `env`, which finds the
 * interpreter.
 */
export async function startable(
  command: readonly [string, ...string[]],
  cwd = process.cwd(),
): Promise<readonly [string, ...string[]]> {
  const path = await pathOf(command[0], cwd)
  return path !== null && (await isScript(path)) ? ['env', ...command] : command
}
