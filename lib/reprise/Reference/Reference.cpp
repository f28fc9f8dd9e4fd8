// reprise: how the interpreter executes an op
#include "reprise/Reference/Reference.h"

using namespace mlir;

#include "reprise/Reference/ReferenceInterface.cpp.inc"
