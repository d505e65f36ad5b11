/** The English locale; the metric registry and the domain's messages are English in the domain. */
import screens from './screens.json'

export default screens
