/** The page's entry: asks for what every start needs before the program itself has been loaded. */
import { askAhead } from './ahead'

if (!window.kernelLadder) askAhead()
void import('./app')
