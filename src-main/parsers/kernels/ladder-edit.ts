/** Edits a ladder file while preserving its comments and layout. */
import { isMap, isSeq, parseDocument } from 'yaml'
import { LadderEntry } from '../../domain/ladder/ladder'

/**
 * Adds an entry after the rung with this id, or at the end if there is no such rung. `text` must be
 * a valid ladder.yaml or ladder.json.
 */
export function addVariant(text: string, after: string, entry: LadderEntry): string {
  const document = parseDocument(text)
  const rungs = document.get('rungs')
  if (!isSeq(rungs)) throw new Error('The ladder has no list of rungs.')
  const at = rungs.items.findIndex(
    (item) => isMap(item) && (item.get('as') ?? item.get('id')) === after,
  )
  const like = rungs.items[at]
  const node = document.createNode(entry)
  // Use the style of the neighboring entry, which is `{ id: … }` on one line, or a block.
  if (isMap(like) && isMap(node)) node.flow = like.flow ?? false
  rungs.items.splice(at < 0 ? rungs.items.length : at + 1, 0, node)
  return document.toString({ lineWidth: 0 })
}
