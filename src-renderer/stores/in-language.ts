/** Translates author-written text in sessions, ladders, and labs into the UI language. */
import type { LabView } from '../../src-main/contract/labs'
import type { Session } from '../../src-main/domain/session/session'
import { isTranslating, own } from '../ui/authored'

/** Keys whose value is an author-written string or a list of such strings. */
const textKeys = new Set([
  'title',
  'idea',
  'note',
  'summary',
  'conclusion',
  'result',
  'ask',
  'explain',
  'unit',
  'surprise',
  'shown',
])

/** Bidirectional control characters, which would also reorder the words around a name. */
const turns = /[\u202a-\u202e\u2066-\u2069]/g
const unturned = (text: string): string => text.replace(turns, '\ufffd')

/**
 * Returns a copy of the value without bidirectional control characters. Strings under `textKeys`
 * are translated into the UI language.
 */
export function inLanguage<T>(value: T, isText = false): T {
  if (typeof value === 'string') return unturned(isText ? own(value) : value) as T
  if (Array.isArray(value)) return value.map((one: unknown) => inLanguage(one, isText)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, inLanguage(one, textKeys.has(key))]),
  ) as T
}

/**
 * Returns a session with translated text. The measurements are not copied, because copying them
 * would be slow.
 */
export const sessionInLanguage = (session: Session): Session => ({
  ...session,
  ladder: inLanguage(session.ladder),
  device: inLanguage(session.device),
  warnings: inLanguage(session.warnings),
  rungs: session.rungs.map((rung) => ({
    ...rung,
    title: inLanguage(rung.title, true),
    idea: inLanguage(rung.idea, true),
    reason: inLanguage(rung.reason),
    diagnostics: inLanguage(rung.diagnostics),
  })),
})

/** Returns the translation key of a session rung's idea. */
export function ideaPlace({ ladder }: Session, rung: string): string {
  const entry = ladder.rungs.find(({ id }) => id === rung)
  return `${ladder.folder === undefined ? 'rungs' : ladder.folder}/${entry?.header.id ?? rung}/idea`
}

/** Returns the translation key of a ladder's note on a rung. */
export const notePlace = ({ ladder }: Session, rung: string): string =>
  `${ladder.folder === undefined ? 'ladders' : ladder.folder}/${ladder.id}/${rung}/note`

/** Returns the translation key of a lab's text. Only built-in labs are translated. */
export const labPlace = ({ id, folder }: LabView, name: string): string =>
  `${folder === null ? '' : `${folder}/`}${id}/${name}`

/** Splits a lab's text at its headings. Each part is translated separately. */
export const sectionsOf = (body: string): string[] =>
  body
    .split(/^(?=## )/m)
    .map((section) => section.trim())
    .filter((section) => section !== '')

const svg = 'data:image/svg+xml;base64,'

/** Returns a picture with its labels in the UI language. */
function pictureInLanguage(uri: string): string {
  if (!isTranslating() || !uri.startsWith(svg)) return uri
  const bytes = Uint8Array.from(atob(uri.slice(svg.length)), (one) => one.charCodeAt(0))
  const drawing = new TextDecoder().decode(bytes)
  return `data:image/svg+xml,${encodeURIComponent(drawing.replaceAll(/(?<=>)[^<>]+(?=<\/)/g, own))}`
}

export const labInLanguage = (lab: LabView): LabView => ({
  ...inLanguage(lab),
  body: sectionsOf(lab.body).map(own).join('\n\n'),
  pictures: Object.fromEntries(
    Object.entries(lab.pictures).map(([path, uri]) => [path, pictureInLanguage(uri)]),
  ),
})
