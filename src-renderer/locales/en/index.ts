/** The English locale: every file in this folder, each with its own keys and its screen's title. */
import { wordsOf, type Words } from '../words'

export default wordsOf(import.meta.glob<Words>('./*.json', { eager: true, import: 'default' }))
