/** Runs once per test file. Imported state is shared within the file. */
import { afterEach } from 'vitest'
import { cleanUp } from './support'

afterEach(cleanUp)
