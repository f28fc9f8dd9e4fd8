// reprise: definitions of the interface of transfers.
#include "reprise/Reference/Transfer.h"

using namespace mlir;

#include "reprise/Reference/TransferInterface.cpp.inc"
