/** What `ladders` prints of a folder. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../services/support'
import { sumsFiles, sumsYaml } from '../../services/sums-folder'
import { runHere } from './support'

async function folderOf(yaml = sumsYaml): Promise<string> {
  const folder = await tempDir()
  for (const [name, text] of Object.entries(sumsFiles(yaml)))
    await writeFile(join(folder, name), text)
  return folder
}

it('names the rung that ratios are relative to, or that there is none', async () => {
  const { code, stdout } = await runHere('ladders', await folderOf())
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ {2}sizes: N = 64, N = 128; baseline rung: a$/m)
  const none = await runHere('ladders', await folderOf(sumsYaml.replace('reference_rung: a\n', '')))
  expect(none.stdout).toMatch(/; baseline rung: none$/m)
})
