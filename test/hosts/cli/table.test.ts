import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { table, type Column } from '../../../src-main/hosts/cli/table'

const columns: Column<string[]>[] = ['name', 'first', 'second', 'third'].map((header, index) => ({
  header,
  ...(index === 0 ? { align: 'left' } : {}),
  cell: (row) => row[index]!,
}))

describe('a table', () => {
  it.each([
    ['Chinese', '矩阵乘法'],
    ['Korean', '행렬 곱'],
    ['Arabic', 'مصفوفة'],
    ['an emoji of several code points', '👩🏽‍🔬'],
    ['combining marks', 'é̂e'],
    ['a control sequence', '\u001b[31mred\u001b[0m'],
    ['a direction mark', '\u202eabc'],
  ])('has aligned columns with %s', (_, name) => {
    const lines = table(
      [
        [name, '1', '2', '3'],
        ['plain', '4', '5', '6'],
      ],
      columns,
    ).split('\n')
    const ends = lines.map((line) => stringWidth(line))
    expect(new Set(ends).size).toBe(1)
  })

  it('that is wider than the terminal is split, and each part repeats the first column', () => {
    const rows = [['a', '1', '2', '3']]
    expect(table(rows, columns, 18).split('\n')).toEqual([
      ...['name  first', 'a         1', ''],
      ...['name  second', 'a          2', ''],
      ...['name  third', 'a         3'],
    ])
    expect(table(rows, columns, 19).split('\n')).toHaveLength(5)
    expect(table(rows, columns).split('\n')).toHaveLength(2)
  })

  it('is not split if one column is wider than the terminal', () => {
    expect(table([['a', 'much too wide', '', '']], columns.slice(0, 2), 5)).toBe(
      'name          first\na     much too wide',
    )
  })
})
