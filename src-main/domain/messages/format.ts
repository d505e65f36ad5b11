/** Formats ICU MessageFormat templates, for the domain's messages and for UI strings. */
import { IntlMessageFormat } from 'intl-messageformat'

/** Parsed templates by language and template text. */
const formats = new Map<string, Map<string, IntlMessageFormat>>()

/** Returns the parsed template with the language's plural rules. */
function formatOf(template: string, language: string): IntlMessageFormat {
  const known = formats.get(language) ?? new Map<string, IntlMessageFormat>()
  formats.set(language, known)
  const format =
    known.get(template) ?? new IntlMessageFormat(template, language, {}, { ignoreTag: true })
  known.set(template, format)
  return format
}

/** Values to insert into a template. A null value inserts nothing. */
export type Values<Value = never> = Readonly<
  Record<string, string | number | null | undefined | Value>
>

/**
 * Returns the template with its values inserted. Adjacent text and numbers form one string. Values
 * of other types remain separate parts.
 */
export const fill = <Value = never>(
  template: string,
  values: Values<Value>,
  language: string,
): (string | Value)[] =>
  // Skip the parser for templates without placeholders, which are the majority.
  template.includes('{')
    ? formatOf(template, language)
        .formatToParts<Value>(values)
        .map(({ value }) => value)
    : [template]

/**
 * The `type` of literal text in a parsed template. `intl-messageformat` does not export the
 * parser's constants.
 */
const literal = 0

const namesIn = (elements: ReturnType<IntlMessageFormat['getAst']>): string[] =>
  elements.flatMap((element) => {
    const type: number = element.type
    if (type === literal || !('value' in element)) return []
    const forms = 'options' in element ? Object.values(element.options) : []
    return [element.value, ...forms.flatMap(({ value }) => namesIn(value))]
  })

/** Returns the names of the values in a template. */
export const valueNames = (template: string): Set<string> =>
  new Set(template.includes('{') ? namesIn(formatOf(template, 'en').getAst()) : [])
