/**
 * Prints a report as one HTML file. The file contains the UI and read-only copies of the sessions,
 * inserted into the built template.
 */
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Assets } from '../../adapters/catalog/assets'
import { KernelLadderError, missingError, errorText } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import {
  deepElementId,
  frozenElementId,
  frozenText,
  packDeep,
  type FrozenDeep,
  type FrozenReport,
} from '../../domain/report/frozen-report'
import { html, htmlSentence } from './html-markup'
import type { ReportModel } from './model'
import { escapeHidden } from '../../domain/text/hidden-characters'

/** Returns the built page after compressing its script. */
export async function readTemplate({ reportTemplate }: Assets): Promise<string> {
  try {
    const [head, tail, script] = splitAt(await readFile(reportTemplate, 'utf8'), [
      '<!--report-ui-->',
      '<!--report-script-->',
    ])
    return `${head}${compressed(script)}${tail}`
  } catch (error) {
    if (error instanceof KernelLadderError) throw error
    throw missingError(
      message('reports.noTemplate', { file: reportTemplate, text: errorText(error) }),
      message('reports.build'),
    )
  }
}

/** Returns the findings and their provenance as plain HTML, for browsers with scripts disabled. */
const withoutScripts = (models: readonly ReportModel[]): string =>
  models
    .map(({ title, summary, facts }) => {
      const { best, jumps, unpaid, troubles } = summary
      const items = [...best, ...jumps, ...unpaid, ...troubles]
      return [
        `<h1>${html(title)}</h1>`,
        '<p>The tables, charts and sources of this report require JavaScript; nothing is loaded from the network.</p>',
        `<ul>${items.map((sentence) => `<li>${htmlSentence(sentence)}</li>`).join('\n')}</ul>`,
        `<dl>${facts.map(({ label, value }) => `<dt>${html(label)}</dt><dd>${html(value)}</dd>`).join('\n')}</dl>`,
      ].join('\n')
    })
    .join('\n')

/** Fills the template by position, so that text in a session cannot act as a placeholder. */
export function printHtml(
  template: string,
  frozen: FrozenReport,
  deep: readonly FrozenDeep[],
  models: readonly ReportModel[],
): string {
  const title = models.map((model) => model.title).join(' and ')
  const data = [
    `<script type="application/json" id="${frozenElementId}">${escapeHidden(frozenText(frozen))}</script>`,
    ...deep.flatMap((profiles, index) =>
      Object.keys(profiles).length === 0
        ? []
        : [`<script type="text/plain" id="${deepElementId(index)}">${packed(profiles)}</script>`],
    ),
  ].join('\n')
  const [head, between, tail] = splitAt(template, ['<!--report-title-->', '<!--report-data-->'])
  return `${head}${html(title)}${between}<noscript>\n${withoutScripts(models)}\n</noscript>\n${data}${tail}`
}

const compressed = (text: string): string => gzipSync(text, { level: 9 }).toString('base64')

const packed = (profiles: FrozenDeep): string => compressed(JSON.stringify(packDeep(profiles)))

function splitAt(template: string, [first, second]: [string, string]): [string, string, string] {
  const [a, b] = [template.indexOf(first), template.indexOf(second)]
  if (a < 0 || b < a)
    throw missingError(message('reports.templateDamaged'), message('reports.build'))
  return [
    template.slice(0, a),
    template.slice(a + first.length, b),
    template.slice(b + second.length),
  ]
}
