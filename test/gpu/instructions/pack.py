"""Packs the results of the special functions: second differences of whole binades, digests, and a sample of all numbers.

Usage: `pack.py FOLDER OUT`. `pack.py disassemble ENCODINGS FILE` calls nvdisasm once per instruction.
"""
import hashlib, io, json, lzma, multiprocessing, os, struct, subprocess, sys, tarfile, tempfile

import numpy

MOST = 15_500_000


def differences(path):
    values = numpy.fromfile(path, dtype='<u4').astype(numpy.int64)
    second = numpy.diff(values, 2)
    near = numpy.where(abs(second) < 128, second, -128).astype(numpy.int8)
    far = second[near == -128].astype('<i4')
    head = struct.pack('<IIII', len(values), values[0], values[1], len(far))
    return lzma.compress(head + far.tobytes() + near.tobytes(), preset=6)


def digests(path):
    values = numpy.fromfile(path, dtype='<u4')
    parts = [hashlib.sha256(part.tobytes()).hexdigest()[:16] for part in values.reshape(256, -1)]
    return parts, lzma.compress(values[::256].tobytes(), preset=6)


def one(path):
    name = os.path.basename(path)[:-4]
    return name, digests(path) if name.endswith('.all') else differences(path)


def functions(folder, out):
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.u32'))
    with multiprocessing.Pool(12) as pool:
        found = dict(pool.map(one, paths, chunksize=1))
    blobs = {'digests.json': json.dumps({n: v[0] for n, v in found.items() if n.endswith('.all')}).encode()}
    for name, value in found.items():
        blobs[f'{name}.xz'] = value[1] if name.endswith('.all') else value
    part, size = [], 0
    parts = [part]
    for name, blob in sorted(blobs.items()):
        if size + len(blob) > MOST:
            part, size = [], 0
            parts.append(part)
        part.append((name, blob))
        size += len(blob) + 1024
    for index, part in enumerate(parts):
        with tarfile.open(os.path.join(out, f'mufu{index}.tar'), 'w') as tar:
            for name, blob in part:
                info = tarfile.TarInfo(name)
                info.size = len(blob)
                tar.addfile(info, io.BytesIO(blob))
    print('mufu', {name: len(blob) for name, blob in blobs.items()})


def text(encoding):
    with tempfile.NamedTemporaryFile() as file:
        file.write(encoding)
        file.flush()
        done = subprocess.run(['nvdisasm', '--binary', 'SM90a', file.name], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if '/*0000*/' in line]
    said = lines[0] if lines else 'error: ' + (done.stderr.strip().splitlines() or ['?'])[-1]
    return f'{encoding[::-1].hex()}\t{said.strip()}'


def disassemble(encodings, target):
    data = open(encodings, 'rb').read()
    with multiprocessing.pool.ThreadPool(12) as pool:
        lines = pool.map(text, [data[at : at + 16] for at in range(0, len(data), 16)])
    open(target, 'w').write('\n'.join(lines) + '\n')


if sys.argv[1] == 'disassemble':
    import multiprocessing.pool

    disassemble(sys.argv[2], sys.argv[3])
else:
    functions(sys.argv[1], sys.argv[2])
