/** The entry point of the command line. */
import { outliveReaders } from './output'
import { runProgram } from './program'
import { setUp } from '../../adapters/machine/local-machine'

outliveReaders()
process.exitCode = await runProgram(process.argv.slice(2), setUp)
