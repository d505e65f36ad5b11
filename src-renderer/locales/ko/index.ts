/** The Korean words: the files, keys and placeholders of ../en, and beside them the words of the metric registry and of the domain's messages. */
import { wordsOf, type Words } from '../words'
import metrics from './metrics.json'
import statements from './statements.json'

const screens = import.meta.glob<Words>(['./*.json', '!./metrics.json', '!./statements.json'], {
  eager: true,
  import: 'default',
})

export default { ...wordsOf(screens), metrics, statements }
