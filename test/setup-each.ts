/** Once for each file of tests; what files import, they share. */
import { afterEach } from 'vitest'
import { cleanUp } from './support'

afterEach(cleanUp)
