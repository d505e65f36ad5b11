/** Runs once per test file; imported state is shared within the file. */
import { afterEach } from 'vitest'
import { cleanUp } from './support'

afterEach(cleanUp)
