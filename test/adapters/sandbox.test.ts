/** The sandbox of `lab grade` on this machine, with the tools that other machines have or lack. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { descendants } from '../../src-main/adapters/tools/process'
import { findSandbox } from '../../src-main/adapters/sandbox'
import { isAlive, setEnv, tempDir } from '../services/support'

const found = await findSandbox()
const pathOf = (tool: string): string =>
  execFileSync('sh', ['-c', 'command -v "$1"', 'sh', tool], { encoding: 'utf8' }).trim()

/** A PATH with these programs and no others. */
async function only(...tools: string[]): Promise<void> {
  const bin = join(await tempDir(), 'bin')
  await mkdir(bin)
  for (const tool of tools) await symlink(pathOf(tool), join(bin, tool))
  setEnv({ PATH: bin })
}

const needed = ['sh', 'unshare', 'mount', 'touch', 'grep']

describe.skipIf(found.isolation.by !== 'unshare')(
  'the sandbox (skipped where unshare does not work)',
  () => {
    it('has a network of its own, with the loopback that ncu talks over', () => {
      expect(found.isolation).toEqual({
        by: 'unshare',
        network: true,
        processes: true,
        files: true,
      })
    })

    it('takes the loopback up without ip and ifconfig where there is Python', async () => {
      const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
        encoding: 'utf8',
      }).trim()
      await only(...needed)
      await symlink(python, join(process.env['PATH']!, 'python3'))
      expect((await findSandbox()).isolation).toMatchObject({ by: 'unshare', network: true })
    })

    it('leaves the network in reach and says so rather than cost every submission its counters', async () => {
      await only(...needed)
      const { isolation } = await findSandbox()
      expect(isolation).toMatchObject({ by: 'unshare', processes: true, files: true })
      expect(isolation.network).toBe(false)
    })

    it('ends with the grader, also where that is killed', async () => {
      const dir = await tempDir()
      // A grader of its own, as a process; what it runs tells its pid as this machine sees it.
      const script = join(dir, 'grader.mjs')
      const command = ['sh', '-c', 'echo started; exec sleep 60']
      await writeFile(
        script,
        `import { spawn } from 'node:child_process'
const argv = ${JSON.stringify(found.wrap(dir, command))}
const child = spawn(argv[0], argv.slice(1), { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
child.stdout.on('data', () => process.stdout.write(String(child.pid)))`,
      )
      const grader = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
      const pid = await new Promise<number>((done) =>
        grader.stdout.once('data', (text: Buffer) => done(Number(String(text)))),
      )
      const tree = [pid, ...(await descendants(pid))]
      expect(tree.length).toBeGreaterThan(1)
      grader.kill('SIGKILL')
      await expect.poll(() => tree.filter(isAlive), { timeout: 5000 }).toEqual([])
    })
  },
)
