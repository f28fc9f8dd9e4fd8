// reprise: small programs around each differentiable op, for the test of its derivatives.
#ifndef REPRISE_TEST_UNIT_DIALECT_REPRISE_DERIVATIVES_DERIVATIVECASES_H
#define REPRISE_TEST_UNIT_DIALECT_REPRISE_DERIVATIVES_DERIVATIVECASES_H

#include <ostream>
#include <string>
#include <vector>

namespace reprise::test {

/// A value of a case: its shape as in a tensor type ("2x3x" or ""), its element type ("$t" for the
/// case's own, "$c" for the type that ops compute in) and, for operands, the range to draw from.
struct CaseValue {
  std::string shape;
  double low = -1, high = 1;
  std::string element = "$t";
};

/// `body` reads %x0, %x1, … and defines %r0, %r1, …; the test differentiates a quadratic form of
/// the results by all operands.
struct DerivativeCase {
  std::string op;   ///< name without "reprise."
  std::string name; ///< name of the test: letters and digits
  std::vector<CaseValue> operands;
  std::string body;
  std::vector<CaseValue> results;
};

/// Prints the name of a case for googletest.
inline void PrintTo(const DerivativeCase &test, std::ostream *stream) { *stream << test.body; }

const std::vector<DerivativeCase> &derivativeCases();

/// Adds the cases of names, offloads and derivatives that a model brings.
void addStructureCases(std::vector<DerivativeCase> &cases);
/// Adds cases of attention and its backward.
void addAttentionCases(std::vector<DerivativeCase> &cases);
/// Adds cases of convolutions, their gradients and poolings.
void addConvolutionCases(std::vector<DerivativeCase> &cases);

} // namespace reprise::test

#endif
