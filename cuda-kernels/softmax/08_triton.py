# @rung    08_triton
# @title   A row per program, in Triton
# @after   05_in_registers
# @idea    a Triton program holds its whole row in registers, like a block of 05_in_registers. The compiler decides how
#          to distribute the row over threads and how to combine the maximum and the sum
# @package triton
# @dtype   f32 bf16
# @param   WARPS 8 {4,8,16,32}
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    at = tl.program_id(0).to(tl.int64) * cols + col
    value = tl.load(x + at, mask=col < cols, other=-float("inf")).to(tl.float32)
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + at, (value / tl.sum(value, axis=0)).to(y.dtype.element_ty), mask=col < cols)


def kl_launch(task):
    block = triton.next_power_of_2(task.COLS)
    warps = min(32, max(task.WARPS, block // 1024))
    softmax[(task.ROWS,)](task.x, task.y, task.COLS, BLOCK=block, num_warps=warps)
