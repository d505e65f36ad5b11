// Shared by the rungs of transpose/.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

// Blocks over x in tiles of tileRows x tileCols, adjacent in launch order along a row of x. klGridRow() is the row of
// tiles.
inline dim3 klTileGrid(const KlTask* p, int tileRows, int tileCols) {
  return klGrid(ceilDiv(int(p->COLS), tileCols), ceilDiv(int(p->ROWS), tileRows));
}
