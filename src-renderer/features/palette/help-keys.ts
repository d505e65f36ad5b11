/** Keys of the help sheet; their texts are `help.<group>.<entry>` in the locale. */
export const helpGroups = [
  {
    id: 'everywhere',
    entries: [
      { id: 'palette', keys: ['Ctrl', 'K'] },
      { id: 'help', keys: ['?'] },
      { id: 'leave', keys: ['Esc'] },
    ],
  },
  {
    id: 'ladder',
    entries: [
      { id: 'move', keys: ['↑', '↓'] },
      { id: 'open', keys: ['→', '←', 'Enter'] },
      { id: 'pick', keys: ['Space'] },
      { id: 'compare', keys: ['c'] },
      { id: 'pin', keys: ['p'] },
      { id: 'find', keys: ['/'] },
    ],
  },
  {
    id: 'compare',
    entries: [
      { id: 'change', keys: ['n', 'p'] },
      { id: 'step', keys: ['[', ']'] },
      { id: 'sass', keys: ['s'] },
      { id: 'chain', keys: ['c'] },
      { id: 'machine', keys: ['m'] },
      { id: 'memory', keys: ['y'] },
      { id: 'find', keys: ['/'] },
      { id: 'hot', keys: ['h'] },
    ],
  },
  {
    id: 'charts',
    entries: [
      { id: 'move', keys: ['↑', '↓', '←', '→'] },
      { id: 'open', keys: ['Enter'] },
      { id: 'pick', keys: ['Space'] },
      { id: 'compare', keys: ['c'] },
      { id: 'zoom', keys: ['+', '−', '0'] },
    ],
  },
  {
    id: 'matrix',
    entries: [
      { id: 'move', keys: ['↑', '↓', '←', '→'] },
      { id: 'page', keys: ['PgUp', 'PgDn'] },
      { id: 'ends', keys: ['Home', 'End'] },
      { id: 'sort', keys: ['Enter'] },
    ],
  },
] as const
