# @rung    00_torch
# @title   PyTorch's own softmax
# @idea    this PyTorch call, which programs use today, is the baseline for the other rungs
# @package torch
# @dtype   f32 bf16
import torch


def kl_launch(task):
    torch.softmax(task.x, dim=1, out=task.y)
