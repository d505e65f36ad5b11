# @rung    09_torch_compile
# @title   PyTorch's softmax, compiled
# @after   00_torch
# @idea    torch.compile writes a Triton kernel for the expression, with maximum and sum in one pass where a row does not
#          fit into registers
# @package triton
# @dtype   f32 bf16
import torch


@torch.compile(dynamic=False)
def softmax(x, y):
    y.copy_(torch.softmax(x, dim=1))


def kl_launch(task):
    softmax(task.x, task.y)
