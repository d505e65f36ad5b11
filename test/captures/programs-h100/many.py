"""Four kernels of one name and template in four sizes, 5 to 20 launches each, in the order given by the argument."""
import sys

import torch

sizes = [(1 << 14, 5), (1 << 18, 10), (1 << 20, 15), (1 << 22, 20)]
if sys.argv[1:] == ["reversed"]:
    sizes.reverse()
for n, launches in sizes:
    v = torch.ones(n, device="cuda")
    for _ in range(launches):
        v = v * 1.5
torch.cuda.synchronize()
