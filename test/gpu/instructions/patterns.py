"""Writes the accesses that counters.cu measures: 8- and 16-byte loads with various masks and lane patterns."""
import random

random.seed(20261124)
masks = [0xFFFFFFFF, 0xAAAAAAAA, 0x55555555, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFF, 0xFFFF0000, 0x00FF00FF, 0x0F0F0F0F,
         0xF0F0F0F0, 0x33333333, 0xCCCCCCCC, 0x99999999, 0xFFFFFF00, 0x00FFFFFF, 0x80000001, 0xFEFFFFFF, 0xFFFEFFFF, 0x7FFF7FFF]


def pattern(kind, width):
    words = {
        'contiguous': [lane for lane in range(32)],
        'pairs': [lane // 2 for lane in range(32)],
        'crossed': [(lane & 1) + (lane // 4) * 2 for lane in range(32)],
        'fours': [lane // 4 for lane in range(32)],
        'pairs apart': [lane // 2 * 9 for lane in range(32)],
        'pairs in conflict': [lane // 2 * (128 // width) for lane in range(32)],
        'pairs twice': [lane // 2 * 2 for lane in range(32)],
        'mixed': [lane // 2 if lane < 16 else (lane & 1) + (lane // 4) * 2 for lane in range(32)],
        'half': [lane // 2 if lane < 16 else lane for lane in range(32)],
        'all but one': [lane // 2 if lane != 5 else 40 for lane in range(32)],
        'random pairs': [random.randrange(64) for _ in range(16) for _ in [0]],
        'random': [random.randrange(64) for _ in range(32)],
        'few': [random.randrange(3) for _ in range(32)],
    }[kind]
    if kind == 'random pairs':
        words = [words[lane // 2] for lane in range(32)]
    return [word * width for word in words]


rows = []
for width, bits in ((16, 128), (8, 64)):
    for kind in ('contiguous', 'pairs', 'crossed', 'fours', 'pairs apart', 'pairs in conflict', 'pairs twice', 'mixed', 'half', 'all but one'):
        for mask in masks if bits == 128 else masks[:10]:
            rows.append((bits, mask, pattern(kind, width)))
    for kind in ('random pairs', 'random', 'few'):
        for mask in [0xFFFFFFFF, 0xAAAAAAAA, 0x7FFFFFFF] + [random.getrandbits(32) | 1 for _ in range(5)]:
            rows.append((bits, mask, pattern(kind, width)))
for bits, mask, offsets in rows:
    print(bits, f'{mask:x}', *offsets)
