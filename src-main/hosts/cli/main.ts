/** Where the command line begins. */
import { setUp } from '../../adapters/machine/machine'
import { outliveReaders } from './output'
import { runProgram } from './program'

outliveReaders()
process.exitCode = await runProgram(process.argv.slice(2), setUp)
