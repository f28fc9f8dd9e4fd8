// reprise: the reduction of large angles in the interpreter.
#ifndef REPRISE_LIB_REFERENCE_ANGLE_H
#define REPRISE_LIB_REFERENCE_ANGLE_H

namespace reprise::reference {

/// Returns x - turn·pi/2 for the nearest `turn`, given modulo 4: in [-pi/4, pi/4], with a relative
/// error of about 2^-53. x is finite and at least 2^9 in magnitude.
double reduceLargeAngle(double x, unsigned &turn);

} // namespace reprise::reference

#endif
