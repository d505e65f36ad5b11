# @rung    09_torch_compile
# @title   PyTorch's softmax, compiled
# @after   00_torch
# @idea    torch.compile generates a Triton kernel for the expression. If a row does not fit in registers, the kernel
#          computes the maximum and the sum in one pass
# @package triton
# @dtype   f32 bf16
import torch


@torch.compile(dynamic=False)
def softmax(x, y):
    y.copy_(torch.softmax(x, dim=1))


def kl_launch(task):
    softmax(task.x, task.y)
