/** Locates the errors in a ladder folder by file, line, and column. */
import { shownPath } from '../../adapters/catalog/ladder-folder'
import type { FolderFault } from '../../contract/folders'
import { says, together, type Statement } from '../../domain/messages/message'
import { inEnglish } from '../../domain/text/english'

/** Splits a combined error into individual errors. A remedy is part of the preceding error. */
function eachFault(faults: Statement): Statement[] {
  if (typeof faults === 'string') return faults.split('\n')
  if ('sentences' in faults)
    return faults.sentences.reduce<Statement[]>((found, sentence) => {
      const last = found.at(-1)
      return last === undefined ||
        says(sentence, 'written.fault') ||
        says(sentence, 'written.lines')
        ? [...found, ...eachFault(sentence)]
        : [...found.slice(0, -1), together(last, sentence)]
    }, [])
  if (!says(faults, 'written.lines')) return [faults]
  return [faults.values.first, faults.values.more].flatMap((part) => eachFault(part as Statement))
}

const location = /^(.+?\.(?:ya?ml|json|cu|cuh|h|hh|hpp|inl|py))(?::(\d+))?(?::(\d+))?$/

/**
 * Splits an error into its location and text. Returns null if the error does not begin with a
 * location.
 */
function located(fault: Statement): { place: RegExpExecArray; fault: Statement } | null {
  if (typeof fault === 'object' && 'sentences' in fault) {
    const [first, ...more] = fault.sentences
    const found = first === undefined ? null : located(first)
    return found && { ...found, fault: together(found.fault, ...more) }
  }
  if (says(fault, 'written.fault')) {
    const { place: at, fault: own } = fault.values
    const place = typeof at === 'string' ? location.exec(at) : null
    return place && { place, fault: own as Statement }
  }
  const [, at = '', rest = ''] = /^(\S.*?): (.+)$/s.exec(inEnglish(fault)) ?? []
  const place = location.exec(at)
  return place && { place, fault: rest }
}

/**
 * Returns the errors that this program's parsers reported, with their locations. File paths are
 * relative to the folder.
 */
export function placedFaults(faults: Statement, folder: string): FolderFault[] {
  const shown = shownPath(folder)
  const own = (file: string): string =>
    [`${shown}/`, `${folder}/`].reduce(
      (name, prefix) => (name.startsWith(prefix) ? name.slice(prefix.length) : name),
      file.replaceAll('\\', '/'),
    )
  return eachFault(faults).map((one) => {
    const found = located(one)
    if (!found) return { file: null, line: null, column: null, message: one }
    const [, file = '', line, column] = found.place
    return {
      file: own(file),
      line: line === undefined ? null : Number(line),
      column: column === undefined ? null : Number(column),
      message: found.fault,
    }
  })
}
