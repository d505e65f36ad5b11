/** Tests the `lab grade` sandbox on this machine with programs that try to escape. */
import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { existsSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { runProcess } from '../../../src-main/adapters/tools/process'
import {
  isIsolated,
  type Isolation,
  isolationSentence,
  safeguards,
} from '../../../src-main/adapters/sandbox/isolation'
import { runSandboxed, type SandboxResult } from '../../../src-main/adapters/sandbox/run-sandboxed'
import {
  findSandbox,
  type Limits,
  openSandbox,
  type Sandbox,
  wrapOf,
} from '../../../src-main/adapters/sandbox/sandbox'
import { removeTree, unshareWith } from '../../../src-main/adapters/sandbox/view'
import { isAlive, setEnv, tempDir } from '../../services/support'
import { said } from '../../support'
import { findGroups } from '../../../src-main/adapters/sandbox/cgroup'
import { descendants } from '../../../src-main/adapters/tools/process-tree'

describe('the sandbox', async () => {
  const MiB = 2 ** 20
  const limits: Limits = {
    seconds: 20,
    memoryBytes: 256 * MiB,
    processes: 64,
    outputBytes: MiB,
    fileBytes: 16 * MiB,
    diskBytes: 32 * MiB,
  }

  async function sandboxHere(
    readable: readonly string[] = [],
    hidden: readonly string[] = [],
  ): Promise<Sandbox> {
    const view = join(await tempDir(), 'view')
    await mkdir(view)
    return findSandbox(limits, view, { readable, hidden })
  }

  // Detect the sandbox once for all tests. Tests that change the environment repeat the detection.
  const scratch = await mkdtemp(join(tmpdir(), 'kl-test-'))
  afterAll(() => rm(scratch, { recursive: true, force: true }))
  const found = await findSandbox(limits, scratch, { readable: [], hidden: [] })
  const canIsolate = isIsolated(found.isolation)

  /** Runs a shell script as a submission. The script's targets are `$1`, `$2`, and so on. */
  async function attempt(
    sandbox: Sandbox,
    script: string,
    ...args: string[]
  ): Promise<SandboxResult & { work: string }> {
    const work = join(await tempDir(), 'work')
    await mkdir(work)
    const result = await runSandboxed(
      sandbox,
      {
        work,
        command: ['sh', '-c', script, 'sh', ...args],
        env: { PATH: process.env['PATH'] ?? '' },
      },
      limits,
      AbortSignal.timeout(15_000),
    )
    return { ...result, work }
  }

  const held = (value: boolean): Isolation['held'] => ({
    network: value,
    processes: value,
    writing: value,
    reading: value,
    rights: value,
  })

  describe('its description', () => {
    it('claims only the restrictions that were verified', () => {
      const kernel = { memory: true, disk: true }
      expect(isolationSentence({ by: 'unshare', held: held(true), kernel })).toMatch(
        /without network or capabilities.*can write only to its folder; all of this was tested\. The kernel enforces the limits on memory, tasks and disk/,
      )
      for (const name of safeguards) {
        const isolation: Isolation = {
          by: 'unshare',
          held: { ...held(true), [name]: false },
          kernel,
        }
        expect(isIsolated(isolation)).toBe(false)
        expect(isolationSentence(isolation)).toMatch(/not isolated from: /)
        expect(isolationSentence(isolation)).not.toMatch(/can write only|without/)
      }
      const watched = { memory: false, disk: false }
      expect(isolationSentence({ by: 'unshare', held: held(true), kernel: watched })).toMatch(
        /Memory and processes are only monitored/,
      )
    })

    it('reports missing isolation, and a missing tool for dropping capabilities', async () => {
      const bin = join(await tempDir(), 'bin')
      await mkdir(bin)
      for (const tool of ['sh', 'unshare', 'mount', 'cat', 'ls'])
        await symlink(
          execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(),
          join(bin, tool),
        )
      setEnv({ PATH: bin })
      const { isolation } = await sandboxHere()
      expect(isIsolated(isolation)).toBe(false)
      expect(isolationSentence(isolation)).toMatch(/submissions run with your permissions/)
    })

    it('matches this machine', () => {
      expect(isolationSentence(found.isolation)).toMatch(
        canIsolate ? /all of this was tested/ : /not isolated from|with your permissions/,
      )
      if (!found.isolation.kernel.memory)
        expect(isolationSentence(found.isolation)).toMatch(/memory.* only monitored/)
    })
  })

  describe.skipIf(!canIsolate)('a submission', () => {
    it('has no capabilities, and cannot remount, mount, or create a namespace', async () => {
      const { stdout } = await attempt(
        found,
        `grep -E '^(Cap|NoNewPrivs)' /proc/self/status
      for point in / /usr /etc /proc/sys/kernel; do mount -o remount,bind,rw "$point" && echo "remounted $point"; done
      mount -t tmpfs tmpfs /tmp && echo mounted
      unshare --user --map-root-user --mount mount -t tmpfs tmpfs /tmp && echo nested
      test -w /proc/sys/kernel/core_pattern && echo core_pattern
      exit 0`,
      )
      expect(stdout.match(/^Cap\w+:\t0+$/gm)).toHaveLength(5)
      expect(stdout).toMatch(/^NoNewPrivs:\t1$/m)
      expect(stdout).not.toMatch(/remounted|mounted|nested|core_pattern/)
    })

    it("cannot read or write other users' files, or reach their sockets", async () => {
      const outside = await tempDir()
      const home = join(outside, 'home')
      const files = [join(home, 'secret'), join(outside, 'other', 'lab.cu')]
      await mkdir(home)
      await mkdir(join(outside, 'other'))
      for (const file of files) await writeFile(file, 'not theirs\n', { mode: 0o666 })
      const server = createServer((socket) => socket.end('reached'))
      const socket = join(outside, 'socket')
      await new Promise<void>((done) => server.listen(socket, done))
      setEnv({ HOME: home, SSH_AUTH_SOCK: socket })
      const result = await attempt(
        await sandboxHere(),
        `for file in "$@"; do cat "$file"; echo overwritten > "$file"; done
      ls -A /run /var/run /home /root "$HOME"
      env | grep SSH_AUTH_SOCK
      ${process.execPath} -e 'require("net").connect(process.argv[1]).on("data", (d) => console.log(String(d))).on("error", () => undefined)' "$3"
      exit 0`,
        ...files,
        socket,
      )
      server.close()
      expect(result.stdout).toBe('')
      for (const file of files) expect(await readFile(file, 'utf8')).toBe('not theirs\n')
    })

    it('can use a tool in a temporary folder, but cannot see the files next to the tool', async () => {
      const dir = await tempDir()
      await mkdir(join(dir, 'bin'))
      const tool = join(dir, 'bin/nvcc')
      await writeFile(tool, '#!/bin/sh\necho compiled\n', { mode: 0o755 })
      await writeFile(join(dir, 'secret'), 'of another\n')
      setEnv({ TMPDIR: dir, PATH: `${join(dir, 'bin')}:${process.env['PATH']}` })
      const sandbox = await sandboxHere()
      expect(isIsolated(sandbox.isolation)).toBe(true)
      const { stdout } = await attempt(sandbox, '"$1"; ls "$2"', tool, dir)
      expect(stdout.split('\n')).toContain('compiled')
      expect(stdout).not.toContain('secret')
    })

    // Regression: copying the target of /etc/alternatives/cuda filled the sandbox's file system and
    // left an empty nvcc file.
    it('sees the links in /etc/alternatives as links', async () => {
      const folder = '/etc/alternatives'
      const entries = existsSync(folder) ? await readdir(folder, { withFileTypes: true }) : []
      const names = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)
      const links = await Promise.all(names.map((name) => readlink(join(folder, name))))
      const script = 'for name in "$@"; do readlink "/etc/alternatives/$name"; done'
      const { stdout } = await attempt(found, script, ...names)
      expect(stdout.split('\n').slice(0, -1)).toEqual(links)
    })

    it('works on an in-memory copy, which needs no cleanup', async () => {
      const work = join(await tempDir(), 'work')
      await mkdir(work)
      await writeFile(join(work, 'lab.cu'), 'handed in')
      const result = await runSandboxed(
        found,
        {
          work,
          command: [
            'sh',
            '-c',
            'cat lab.cu; echo more > lab.cu; mkdir -p a/b; chmod 000 a; cat lab.cu',
          ],
          env: { PATH: process.env['PATH'] ?? '' },
        },
        limits,
        AbortSignal.timeout(15_000),
      )
      expect(result.stdout).toBe('handed inmore\n')
      expect(await readFile(join(work, 'lab.cu'), 'utf8')).toBe('handed in')
      expect(execFileSync('ls', [work], { encoding: 'utf8' })).toBe('lab.cu\n')
    })

    it('cannot exceed its disk limit or file size limit in any folder', async () => {
      const { stdout } = await attempt(
        found,
        `for at in . /tmp /dev/shm; do for part in 1 2 3; do dd if=/dev/zero of="$at/file$part" bs=1M count=20; done; done 2>/dev/null
      cat ./file* /tmp/file* /dev/shm/file* | wc -c; ls -l ./file1 | awk '{print $5}'`,
      )
      const [all, first] = stdout.split('\n').map(Number)
      expect(all).toBeGreaterThan(0)
      expect(all).toBeLessThanOrEqual(limits.diskBytes)
      expect(first).toBeLessThanOrEqual(limits.fileBytes)
    })

    it('is stopped by its process limit, even if processes leave the process tree', async () => {
      const { stopped } = await attempt(
        found,
        `i=0; while [ $i -lt 2000 ]; do setsid sleep 30 & i=$((i + 1)); done 2>/dev/null; wait`,
      )
      expect(said(stopped)).toMatch(/more than \d+ processes/)
    })

    it('cannot exceed its memory limit, even in an in-memory file system', async () => {
      const sandbox = found
      const { stopped, stdout } = await attempt(
        sandbox,
        `${process.execPath} -e 'const all = []; for (let n = 0; n < 64; n += 1) all.push(Buffer.alloc(2 ** 24, 1)); setTimeout(() => console.log("had it"), 3000)'`,
      )
      expect(stdout).not.toMatch(/had it/)
      expect(said(stopped)).toMatch(/more than 0\.3 GiB/)
    })

    it('ends when the grader ends, even if the grader is killed', async () => {
      const dir = await tempDir()
      const sandbox = found
      const work = join(dir, 'work')
      await mkdir(work)
      const argv = wrapOf(sandbox.mechanism)(
        {
          ...{ work, view: sandbox.view, readable: [], hidden: [], tasks: 512, cpuSeconds: 60 },
          ...{ diskBytes: limits.diskBytes, fileBytes: limits.fileBytes },
        },
        ['sh', '-c', 'echo started; exec sleep 60'],
      )
      // Run a separate grader process. The grader's children report their process ids in this
      // machine's pid namespace.
      const script = join(dir, 'grader.mjs')
      await writeFile(
        script,
        `import { spawn } from 'node:child_process'
const argv = ${JSON.stringify(argv)}
const child = spawn(argv[0], argv.slice(1), { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
child.stdout.on('data', () => process.stdout.write(String(child.pid)))`,
      )
      const grader = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
      const pid = await new Promise<number>((done) =>
        grader.stdout.once('data', (text: Buffer) => done(Number(String(text)))),
      )
      const tree = [pid, ...descendants(pid)]
      expect(tree.length).toBeGreaterThan(1)
      grader.kill('SIGKILL')
      await expect.poll(() => tree.filter(isAlive)).toEqual([])
    })

    it('works for an ordinary user and for root', async () => {
      const dir = await tempDir()
      const [work, view] = [join(dir, 'work'), join(dir, 'view')]
      for (const folder of [work, view]) await mkdir(folder)
      for (const folder of [dir, work, view]) await chmod(folder, 0o777)
      const argv = unshareWith([], null)(
        {
          ...{ work, view, readable: [], hidden: [], tasks: 512, cpuSeconds: 60 },
          ...{ diskBytes: limits.diskBytes, fileBytes: limits.fileBytes },
        },
        [
          ...['sh', '-c'],
          `grep -E '^CapEff' /proc/self/status; mount -o remount,bind,rw /usr || echo refused; ls ${dir}/..; echo mine > own; cat own`,
        ],
      )
      const as =
        process.getuid?.() === 0
          ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--']
          : []
      const [file, ...args] = [...as, ...argv]
      const { stdout, stderr } = await runProcess({ file: file!, args, timeoutMs: 15_000 })
      const name = dir.split('/').at(-1)!
      expect(stdout, stderr).toBe(`CapEff:\t${'0'.repeat(16)}\nrefused\n${name}\nmine\n`)
    })
  })

  it('passes none of the grader’s environment variables to a submission', async () => {
    setEnv({ KERNEL_LADDER_SECRET: 'token' })
    const { stdout } = await attempt(openSandbox(), 'env')
    expect(stdout).toContain('KERNEL_LADDER_GRADED=')
    expect(stdout).not.toContain('KERNEL_LADDER_SECRET')
  })
})

describe('limits that the kernel enforces', async () => {
  const memoryBytes = 128 * 2 ** 20
  const make = await findGroups({ memoryBytes, tasks: 40 })

  const inGroup = async (script: string) => {
    const group = await make!()
    const [file, ...args] = [...group.prefix, 'sh', '-c', script]
    const result = await runProcess({ file: file!, args, timeoutMs: 15_000 })
    const met = await group.met()
    await group.end()
    return { ...result, met }
  }

  describe('a control group', () => {
    it.skipIf(make === null)(
      'kills processes that exceed the memory limit, however quickly they allocate',
      async () => {
        const { met, stdout } = await inGroup(
          `${process.execPath} -e 'Buffer.alloc(2 ** 28, 1); console.log("had it")'; exit 0`,
        )
        expect(stdout).not.toContain('had it')
        expect(met).toBe('memory')
      },
    )

    it.skipIf(make === null)(
      'allows only the permitted number of tasks, and kills the remaining tasks',
      async () => {
        const { met } = await inGroup(
          'i=0; while [ $i -lt 60 ]; do setsid sleep 30 & i=$((i + 1)); done >/dev/null 2>&1; exit 0',
        )
        expect(met).toBe('tasks')
      },
    )
  })
})

describe("removing a submission's leftovers", () => {
  const bury = `
const fs = require('fs'), name = 'n'.repeat(200)
for (let deep = 0; deep < 60; deep += 1) {
  fs.mkdirSync('shut'); fs.writeFileSync('shut/file', ''); fs.chmodSync('shut', 0)
  fs.mkdirSync(name); process.chdir(name)
}`

  it('removes folders without access permissions, and paths longer than the maximum', async () => {
    const folder = join(await tempDir(), 'left')
    await mkdir(folder)
    execFileSync(process.execPath, ['-e', bury], { cwd: folder })
    expect(await removeTree(folder)).toBe(true)
    expect(existsSync(folder)).toBe(false)
  })

  it('reports a folder that cannot be removed', async () => {
    expect(await removeTree('/proc/self')).toBe(false)
  })
})
