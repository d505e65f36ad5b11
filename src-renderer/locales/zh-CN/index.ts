/**
 * The Simplified Chinese locale. It has the keys and placeholders of ../en, the metrics, messages,
 * and ladder texts, and the spacing rules for figures.
 */
import metrics from './metrics.json'
import screens from './screens.json'
import statements from './statements.json'

export { default as ladders } from './ladders.yaml'
export default { ...screens, metrics, statements }

const ideograph = '[\\u3400-\\u9fff\\u3001-\\u301f\\uff01-\\uff5e]'
const gap = new RegExp(`(?<=${ideograph}) (?=${ideograph})`, 'g')

/** Removes the spaces around Latin letters and figures where Chinese text was inserted instead. */
export const settle = (text: string): string => text.replace(gap, '')
