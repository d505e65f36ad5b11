/** The Simplified Chinese locale: the keys and placeholders of ../en, plus the metric registry, the domain's messages and the texts of ladders; and what sets off figures. */
import metrics from './metrics.json'
import screens from './screens.json'
import statements from './statements.json'

export { default as ladders } from './ladders.yaml'
export default { ...screens, metrics, statements }

const ideograph = '[\\u3400-\\u9fff\\u3001-\\u301f\\uff01-\\uff5e]'
const gap = new RegExp(`(?<=${ideograph}) (?=${ideograph})`, 'g')

/** The text without the spaces that set off Latin letters and figures where Chinese was set in instead. */
export const settle = (text: string): string => text.replace(gap, '')
