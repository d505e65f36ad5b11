/** Places labels along a line so that they do not overlap. */

/**
 * Returns vertical positions for labels that would otherwise overlap. The labels keep their order
 * and stay at least `space` apart between `from` and `to`. Each label is as close to its preferred
 * position as possible.
 */
export function spreadLabels(
  wanted: readonly number[],
  space: number,
  from: number,
  to: number,
): number[] {
  const order = wanted.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at)
  // If the labels do not all fit, reduce their spacing evenly.
  const step = Math.min(space, order.length > 1 ? (to - from) / (order.length - 1) : space)
  const groups: { centre: number; members: number[] }[] = []
  for (const { at, index } of order) {
    let group = { centre: at, members: [index] }
    for (let last = groups.at(-1); last; last = groups.at(-1)) {
      const half = (count: number) => ((count - 1) * step) / 2
      const apart =
        group.centre - half(group.members.length) - (last.centre + half(last.members.length))
      if (apart >= step) break
      groups.pop()
      const members = [...last.members, ...group.members]
      const sum = last.centre * last.members.length + group.centre * group.members.length
      group = { centre: sum / members.length, members }
    }
    const half = ((group.members.length - 1) * step) / 2
    group.centre = Math.min(Math.max(group.centre, from + half), to - half)
    groups.push(group)
  }
  const places = new Array<number>(wanted.length).fill(0)
  for (const { centre, members } of groups)
    members.forEach((index, place) => {
      places[index] = centre + (place - (members.length - 1) / 2) * step
    })
  return places
}

/** Returns the smallest round number that is at least `value`, for the end of an axis. */
export function niceEnd(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return (
    ([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((factor) => factor * power >= value) ?? 10) * power
  )
}
