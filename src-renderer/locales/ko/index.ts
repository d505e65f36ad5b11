/** The Korean locale: the keys and placeholders of ../en, plus the metric registry, the domain's messages and the texts of ladders. */
import metrics from './metrics.json'
import screens from './screens.json'
import statements from './statements.json'

export { default as ladders } from './ladders.yaml'
export default { ...screens, metrics, statements }
