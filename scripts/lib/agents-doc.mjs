// @ts-check
/**
 * Generates the conversations in docs/guides/agents.md. Two of the conversations run against the
 * built server, using the SDK's client. The other two conversations come from recordings.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { documentWith } from './document.mjs'
import { root } from './project.mjs'

/** @typedef {import('@modelcontextprotocol/client').Client} Client */
/** @typedef {{ name: string, given: Record<string, unknown>, answer: any }} Call */

/** @param {Client} client @param {Call[]} calls */
const asking = (client, calls) => async (/** @type {string} */ name, /** @type {any} */ given) => {
  const { structuredContent } = await client.callTool({ name, arguments: given })
  calls.push({ name, given, answer: structuredContent })
  return /** @type {any} */ (structuredContent)
}

/**
 * Calls the server until the first cause in a report is known. Each call uses only data from
 * earlier answers.
 * @param {Client} client of a server whose folder contains slow.ncu-rep
 */
async function firstCause(client) {
  /** @type {Call[]} */
  const calls = []
  const ask = asking(client, calls)
  const { session, entries } = await ask('import', { file: 'slow.ncu-rep' })
  const { summary } = await ask('why', { session, rung: entries[1].rung })
  return { calls, found: String(summary) }
}

/**
 * Calls the server until the line with the bank conflict is known. Starts from a wrong submission.
 * @param {Client} client of a server whose folder contains lab.cu
 */
async function labConflict(client) {
  /** @type {Call[]} */
  const calls = []
  const ask = asking(client, calls)
  const { session } = await ask('lab_check', { lab: '07-bank-conflicts', file: 'lab.cu' })
  const rung = 'submission'
  const { summary } = await ask('source', { session, rung, by: 'sharedWavefrontsExcess', limit: 1 })
  return { calls, found: String(summary) }
}

const mostText = 700

/** @param {Call} call */
function shown({ name, given, answer }) {
  const { summary, ...rest } = answer
  // Replace the creation time in a session's name.
  const text = JSON.stringify(rest).replaceAll(/\d{8}-\d{6}(-[0-9a-f]{4})?/g, '…')
  const cut = text.length > mostText ? `${text.slice(0, mostText)}…` : text
  const asked = JSON.stringify(given).replaceAll(/\d{8}-\d{6}(-[0-9a-f]{4})?/g, '…')
  return `→ ${name} ${asked}\n← ${summary}\n  ${cut}`
}

/** @param {readonly Call[]} calls */
const block = (calls) => `\`\`\`\n${calls.map(shown).join('\n\n')}\n\`\`\``

/**
 * A recorded optimization of a kernel, from a naive version to the hardware limit. The recorded
 * calls contain the edited files.
 * @typedef {{ name: 'edit', file: string, text: string }} Edit
 * @typedef {{ rung: string, ms: number, spread: number }} MeasuredRung
 * @typedef {{
 *   repository: string, commit: string, path: string, kernel: string, calls: (Call | Edit)[],
 *   measured: { gpu: string, driver: string, command: string, rungs: MeasuredRung[] },
 * }} Climbed
 */

/** @param {number} ms */
const microseconds = (ms) => `${Number((ms * 1000).toPrecision(3))} µs`

/** @param {Climbed} climbed */
function climb({ repository, commit, path, kernel, calls, measured }) {
  const parts = calls.map((call) =>
    'file' in call
      ? `(writes ${call.file}, ${call.text.trimEnd().split('\n').length} lines, and lists it in ladder.yaml)`
      : shown(call),
  )
  const last = calls.findLast((call) => 'answer' in call && call.answer.entries?.[0]?.predicted)
  const predicted = /** @type {Call} */ (last).answer.entries
  const rows = measured.rungs.map(({ rung, ms, spread }) => {
    const own = predicted.find((/** @type {{ rung: string }} */ one) => one.rung === rung).predicted
    const range = `${microseconds(own.ms)} (${microseconds(own.lowMs)} to ${microseconds(own.highMs)})`
    return `| \`${rung}\` | ${range} | ${microseconds(ms)} ± ${(100 * spread).toFixed(1)} % |`
  })
  const asked = calls.filter((call) => 'answer' in call).length
  return [
    `### \`${kernel}\` of [${repository}](https://github.com/${repository}/blob/${commit}/${path})`,
    `${asked} calls, ${calls.length - asked === 1 ? '1 change' : `${calls.length - asked} changes`}. Measured afterwards on an ${measured.gpu} with \`${measured.command}\`, driver ${measured.driver}.`,
    ['| rung | predicted, with its range | measured |', '| :-- | --: | --: |', ...rows].join('\n'),
    `<details>\n<summary>Every call</summary>\n\n\`\`\`\n${parts.join('\n\n')}\n\`\`\`\n\n</details>`,
  ].join('\n\n')
}

const climbsCapture = join(root, 'test/captures/agents/from-naive.json')

/** Returns the recorded conversations, formatted for the document. */
const climbs = () =>
  /** @type {{ kernels: Climbed[] }} */ (JSON.parse(readFileSync(climbsCapture, 'utf8'))).kernels
    .map(climb)
    .join('\n\n')

/**
 * Runs the conversations. Returns the updated document and the conversations.
 * @param {string} program @param {string} dir for the session store and the agent's folder
 * @param {string} [cache] with earlier builds
 */
export async function agentsDoc(program, dir, cache = join(dir, 'cache')) {
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const folder = join(dir, 'work')
  mkdirSync(folder, { recursive: true })
  const capture = join(root, 'test/captures/ncu/2025.3.1-h200/five-kernels.ncu-rep.br')
  writeFileSync(join(folder, 'slow.ncu-rep'), brotliDecompressSync(readFileSync(capture)))
  copyFileSync(join(root, 'cuda-kernels/labs/07-bank-conflicts/starter.cu'), join(folder, 'lab.cu'))
  const client = new Client({ name: 'docs', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', folder],
      env: {
        .../** @type {Record<string, string>} */ (process.env),
        KERNEL_LADDER_CACHE: cache,
        KERNEL_LADDER_DATA: join(dir, 'data'),
      },
      stderr: 'ignore',
    }),
  )
  try {
    const cause = await firstCause(client)
    const conflict = await labConflict(client)
    const text = await documentWith('docs/guides/agents.md', [
      ['cause', block(cause.calls)],
      ['conflict', block(conflict.calls)],
      ['climbs', climbs()],
    ])
    return { text, cause, conflict }
  } finally {
    await client.close()
  }
}
