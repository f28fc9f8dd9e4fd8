/* reprise: the MLIR behind sessions and modules. UNSTABLE: nothing here is promised from one build
 * to the next, and the handles are of the very libMLIR that libRepriseC was linked with. A library
 * that is linked statically, as the one of the Python package, has no such handles to share. */
#ifndef REPRISE_C_REPRISEPRIVATEMLIR_H
#define REPRISE_C_REPRISEPRIVATEMLIR_H

#include "reprise-c/Reprise.h"

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the session, with the dialects of Reprise. */
REPRISE_EXPORT MlirContext reprise_private_mlir_context(reprise_session *session);
/* Of the reprise_module, which keeps it. */
REPRISE_EXPORT MlirModule reprise_private_mlir_module(reprise_module *module);
/* Takes the module, which is of the session's context, and verifies it. On an error the caller
 * keeps it. */
REPRISE_EXPORT reprise_error *reprise_private_mlir_take(reprise_session *session, MlirModule mlir,
                                                        reprise_module **module);

#ifdef __cplusplus
}
#endif

#endif /* REPRISE_C_REPRISEPRIVATEMLIR_H */
