import { describe, expect, it } from 'vitest'
import { readLists, writeLists } from './kept-lists'

describe('kept lists', () => {
  it('are each of its own key, and forgotten with null', () => {
    const one = writeLists([], 'a', ['x'])
    const two = writeLists(readLists(one), 'b', ['y', 'z'])
    expect(readLists(two)).toEqual([
      ['a', ['x']],
      ['b', ['y', 'z']],
    ])
    expect(readLists(writeLists(readLists(two), 'a', null))).toEqual([['b', ['y', 'z']]])
  })

  it('are the last fifty that were changed', () => {
    let text = ''
    for (let index = 0; index < 60; index += 1)
      text = writeLists(readLists(text), `${index}`, ['x'])
    expect(readLists(text).map(([key]) => key)).toEqual(
      Array.from({ length: 50 }, (_, index) => `${index + 10}`),
    )
  })

  it('of another hand are passed over', () => {
    for (const text of ['', '{', '{"a":["x"]}', '[["a"]]', '[["a",[1]]]', '[[1,["x"]]]'])
      expect(readLists(text), text).toEqual([])
    expect(readLists('[["a",["x"]],null,["b","c"]]')).toEqual([['a', ['x']]])
  })
})
