/** The Simplified Chinese words: the files, keys and placeholders of ../en, and beside them the words of the metric registry and of the domain's messages. */
import code from './code.json'
import charts from './charts.json'
import compare from './compare.json'
import doctor from './doctor.json'
import edit from './edit.json'
import figures from './figures.json'
import labs from './labs.json'
import ladder from './ladder.json'
import statements from './statements.json'
import metrics from './metrics.json'
import matrix from './matrix.json'
import exports from './export.json'
import palette from './palette.json'
import report from './report.json'
import limit from './limit.json'
import profilePlan from './profile-plan.json'
import run from './run.json'
import sanitize from './sanitize.json'
import sessions from './sessions.json'
import shell from './shell.json'
import whatIf from './what-if.json'

export default {
  ...shell,
  ...whatIf,
  ...sessions,
  ...edit,
  ...figures,
  ...labs,
  ...ladder,
  ...charts,
  ...compare,
  ...matrix,
  ...palette,
  ...code,
  ...limit,
  ...profilePlan,
  ...run,
  ...sanitize,
  ...exports,
  ...report,
  ...doctor,
  metrics,
  statements,
}
