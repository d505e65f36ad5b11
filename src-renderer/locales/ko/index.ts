/** The Korean locale: the keys and placeholders of ../en, plus the metric registry and the domain's messages. */
import metrics from './metrics.json'
import screens from './screens.json'
import statements from './statements.json'

export default { ...screens, metrics, statements }
