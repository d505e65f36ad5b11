/** Entry point of the page. Sends the startup requests before the program has loaded. */
import { askAhead } from './ahead'

if (!window.kernelLadder) askAhead()
void import('./app')
