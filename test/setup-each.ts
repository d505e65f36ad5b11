/** Runs once per test file. All tests of a file share imported state. */
import { afterEach } from 'vitest'
import { cleanUp } from './support'

afterEach(cleanUp)
