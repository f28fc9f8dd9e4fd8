/* reprise: the MLIR behind sessions and modules. UNSTABLE: the interface may change with every
 * build, and the handles belong to the same libMLIR that libRepriseC was linked with. A statically
 * linked library, such as the one of the Python package, has no handles to share. */
#ifndef REPRISE_C_REPRISEPRIVATEMLIR_H
#define REPRISE_C_REPRISEPRIVATEMLIR_H

#include "reprise-c/Reprise.h"

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the session's context, with the dialects of Reprise. */
REPRISE_EXPORT MlirContext reprise_private_mlir_context(reprise_session *session);
/* Returns the module of `module`, which keeps ownership. */
REPRISE_EXPORT MlirModule reprise_private_mlir_module(reprise_module *module);
/* Takes ownership of a module of the session's context and verifies it. On an error the caller
 * keeps the module. */
REPRISE_EXPORT reprise_error *reprise_private_mlir_take(reprise_session *session, MlirModule mlir,
                                                        reprise_module **module);

#ifdef __cplusplus
}
#endif

#endif /* REPRISE_C_REPRISEPRIVATEMLIR_H */
