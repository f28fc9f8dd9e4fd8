// reprise: what ends a kernel or a function where its text does not
#ifndef REPRISE_GPU_EMULATOR_CONTROL_H
#define REPRISE_GPU_EMULATOR_CONTROL_H

#include "Machine.h"

namespace reprise::emulator {

void executeExit(Warp &warp, const Inst &inst);
/// `inst.a` is where the lanes' callers go on.
void executeReturn(Warp &warp, const Inst &inst);

} // namespace reprise::emulator

#endif
