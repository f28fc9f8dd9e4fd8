// reprise: execution of ops in the interpreter
#include "reprise/Reference/Reference.h"

using namespace mlir;

#include "reprise/Reference/ReferenceInterface.cpp.inc"
