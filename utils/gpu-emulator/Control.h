// reprise: ends of a kernel or a function other than its last instruction
#ifndef REPRISE_GPU_EMULATOR_CONTROL_H
#define REPRISE_GPU_EMULATOR_CONTROL_H

#include "Machine.h"

namespace reprise::emulator {

void executeExit(Warp &warp, const Inst &inst);
/// `inst.a` is where the lanes' callers go on.
void executeReturn(Warp &warp, const Inst &inst);

} // namespace reprise::emulator

#endif
