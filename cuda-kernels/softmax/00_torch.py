# @rung    00_torch
# @title   PyTorch's own softmax
# @idea    what a program calls today; the other rungs are measured against it
# @package torch
# @dtype   f32 bf16
import torch


def kl_launch(task):
    torch.softmax(task.x, dim=1, out=task.y)
