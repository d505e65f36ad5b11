/** Runs once per test file. All tests in a file share imported state. */
import { afterEach } from 'vitest'
import { cleanUp } from './support'

afterEach(cleanUp)
