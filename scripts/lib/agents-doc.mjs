// @ts-check
/** The two conversations in docs/guides/agents.md, held with the built server by the SDK's own client. */
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
 * From a report to the first cause: what the agent knows is in what it was answered.
 * @param {Client} client of a server whose folder holds slow.ncu-rep
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
 * From a wrong answer to the line with the bank conflict.
 * @param {Client} client of a server whose folder holds lab.cu
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
  // A session is named after the time that it was made.
  const text = JSON.stringify(rest).replaceAll(/\d{8}-\d{6}(-[0-9a-f]{4})?/g, '…')
  const cut = text.length > mostText ? `${text.slice(0, mostText)}…` : text
  const asked = JSON.stringify(given).replaceAll(/\d{8}-\d{6}(-[0-9a-f]{4})?/g, '…')
  return `→ ${name} ${asked}\n← ${summary}\n  ${cut}`
}

/** @param {readonly Call[]} calls */
const block = (calls) => `\`\`\`\n${calls.map(shown).join('\n\n')}\n\`\`\``

/**
 * The document with the conversations of today, and the conversations.
 * @param {string} program @param {string} dir for the session store and the agent's folder
 * @param {string} [cache] with what was built before
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
    ])
    return { text, cause, conflict }
  } finally {
    await client.close()
  }
}
