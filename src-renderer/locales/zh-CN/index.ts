/** The Simplified Chinese locale: the files, keys and placeholders of ../en, plus the metric registry and the domain's messages. */
import { wordsOf, type Words } from '../words'
import metrics from './metrics.json'
import statements from './statements.json'

const screens = import.meta.glob<Words>(['./*.json', '!./metrics.json', '!./statements.json'], {
  eager: true,
  import: 'default',
})

export default { ...wordsOf(screens), metrics, statements }
