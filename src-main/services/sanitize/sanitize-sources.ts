/** Converts a finding's compiled path to the path in the catalog, and adds source lines. */
import type {
  SanitizerFinding,
  SanitizerRecord,
  SourceExcerpt,
  SourcePlace,
} from '../../domain/session/sanitizer'

/** Source text by path relative to the catalog. */
export type SourceTexts = ReadonlyMap<string, string>

/** Number of lines shown before and after a finding's line. */
const around = 2

function excerptOf(texts: SourceTexts, { file, line }: SourcePlace): SourceExcerpt | null {
  const text = file === null ? undefined : texts.get(file)
  if (text === undefined || line === null) return null
  const lines = text.split(/\r?\n/)
  if (line < 1 || line > lines.length) return null
  const from = Math.max(1, line - around)
  return { from, lines: lines.slice(from - 1, line + around) }
}

/**
 * Converts `/home/…/build/3f…/src/gemm/05_tile.cu` to `gemm/05_tile.cu`. For files outside the
 * catalog, keeps only the file name.
 */
function relative(texts: SourceTexts, place: SourcePlace): SourcePlace {
  if (place.file === null) return place
  const path = place.file.replaceAll('\\', '/')
  const own = [...texts.keys()].find((file) => path === file || path.endsWith(`/${file}`))
  return { ...place, file: own ?? path.split('/').at(-1) ?? path }
}

export function locateFinding(record: SanitizerRecord, texts: SourceTexts): SanitizerFinding {
  const place = relative(texts, record.place)
  const conflict = record.conflict && {
    ...record.conflict,
    place: relative(texts, record.conflict.place),
  }
  return { ...record, place, conflict, excerpt: excerptOf(texts, place) }
}
