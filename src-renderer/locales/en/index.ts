/** The English words: every file of this folder, each with its own keys and the title of its screen. */
import { wordsOf, type Words } from '../words'

export default wordsOf(import.meta.glob<Words>('./*.json', { eager: true, import: 'default' }))
