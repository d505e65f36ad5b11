/** `npm test` names the browser; a plain `vitest --project built` finds it here. */
import { findChromium } from '../scripts/lib/programs.mjs'

export default async function setup(): Promise<void> {
  const chromium = process.env['KERNEL_LADDER_CHROMIUM'] ?? (await findChromium())
  if (chromium === undefined)
    throw new Error('No Chromium was found. Install one, or set CHROME_PATH to its executable.')
  process.env['KERNEL_LADDER_CHROMIUM'] = chromium
}
