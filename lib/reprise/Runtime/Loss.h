// reprise: the loss among the results of a step
#ifndef REPRISE_LIB_RUNTIME_LOSS_H
#define REPRISE_LIB_RUNTIME_LOSS_H

#include "DeviceSession.h"
#include "reprise/Runtime/Session.h"

namespace reprise::runtime {

/// Returns the result `loss` of this process if it is one floating-point number.
std::optional<double> findLoss(const std::vector<ArrayRef> &arrays,
                               const std::vector<ResultSource> &sources);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_LOSS_H
