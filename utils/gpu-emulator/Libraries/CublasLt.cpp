// reprise: the interface of cuBLASLt, as far as bundles call it
//
// Wrong calls are refused with a line that names the fault. Algorithms differ in the number of
// parts of a sum, so that another algorithm has other bits. REPRISE_EMULATED_ALGORITHM is the
// number of parts that is recommended if there is workspace.
#include "../Libraries.h"
#include "Product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace reprise::emulator;

namespace {

enum Status : int {
  Success = 0,
  NotInitialized = 1,
  InvalidValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15
};

constexpr uint64_t magic = 0x746c41746c427043; // start of an algorithm
constexpr uint64_t mostParts = 16;
constexpr uint64_t reductionNone = 0, reductionComputeType = 2;
constexpr uint32_t epilogueNone = 1, epilogueBias = 4;

struct Algorithm {
  uint64_t magic, parts, reduction, alignment, unused[4];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};
struct Description {
  int32_t transposes[2] = {0, 0};
  uint32_t epilogue = epilogueNone;
  const void *bias = nullptr;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7, alignments[4] = {256, 256, 256, 256};
};

Status refuse(const std::string &why) {
  repriseEmulatorFail(("cuBLASLt: " + why).c_str());
  return InvalidValue;
}

template <typename T> Status set(T &into, const void *value, size_t bytes, const char *what) {
  if (bytes != sizeof into)
    return refuse(std::string(what) + " has " + std::to_string(bytes) + " bytes");
  std::memcpy(&into, value, bytes);
  return Success;
}

std::string faultOf(const char *name, const Matrix &matrix) {
  if (matrix.pitch < matrix.rows)
    return std::string(name) + ": the leading dimension " + std::to_string(matrix.pitch) +
           " is less than the rows, " + std::to_string(matrix.rows);
  return "";
}

/// Returns the fault of a product; empty if it is valid.
std::string faultOf(const Product &p, const Matrix &c) {
  for (auto [name, matrix] : {std::pair("A", &p.a), {"B", &p.b}, {"D", &p.d}})
    if (std::string fault = faultOf(name, *matrix); !fault.empty())
      return fault;
  int64_t otherTerms = p.transposesB ? p.b.columns : p.b.rows;
  if (p.terms() != otherTerms || (p.transposesA ? p.a.columns : p.a.rows) != p.d.rows ||
      (p.transposesB ? p.b.rows : p.b.columns) != p.d.columns)
    return "the sizes of A, B and D do not fit";
  if (p.a.batch != p.d.batch || p.b.batch != p.d.batch)
    return "A, B and D are of batches of different sizes";
  if ((p.a.type != typeF16 && p.a.type != typeBF16) || p.b.type != p.a.type ||
      (p.d.type != p.a.type && p.d.type != typeF32))
    return "a combination of types that it lacks";
  if (std::memcmp(&c, &p.d, sizeof c) != 0)
    return "C and D differ";
  if (p.d.batch > 1 && p.d.stride < p.d.pitch * p.d.columns)
    return "the matrices of D overlap";
  return "";
}

Product describe(const Description &description, const Matrix &a, const Matrix &b,
                 const Matrix &d) {
  Product product;
  product.a = a;
  product.b = b;
  product.d = d;
  product.transposesA = description.transposes[0];
  product.transposesB = description.transposes[1];
  product.bias = description.epilogue == epilogueBias ? description.bias : nullptr;
  return product;
}

uint64_t workspaceOf(const Product &product, uint64_t parts) {
  return parts == 1 ? 0
                    : parts * uint64_t(product.d.batch * product.d.rows * product.d.columns) * 4;
}

bool isAlgorithm(const Algorithm &algorithm) {
  return algorithm.magic == magic && algorithm.parts >= 1 && algorithm.parts <= mostParts &&
         algorithm.reduction <= 4 && algorithm.alignment >= 2 && algorithm.alignment <= 256;
}

/// Adds the columns of a matrix, which may have gaps between them.
void addRanges(std::vector<RepriseEmulatedRange> &ranges, const Matrix &matrix, const void *data,
               bool writes) {
  for (int64_t i = 0; i < matrix.batch * matrix.columns; ++i) {
    int64_t first = i / matrix.columns * matrix.stride + i % matrix.columns * matrix.pitch;
    uint64_t size = bytesOfType(matrix.type);
    ranges.push_back(
        {uint64_t(data) + uint64_t(first) * size, uint64_t(matrix.rows) * size, writes});
  }
}

} // namespace

REPRISE_CUDA size_t cublasLtGetVersion() { return 130000; }
REPRISE_CUDA const char *cublasLtGetStatusName(int status) {
  return status == Success           ? "CUBLAS_STATUS_SUCCESS"
         : status == NotInitialized  ? "CUBLAS_STATUS_NOT_INITIALIZED"
         : status == InvalidValue    ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == ExecutionFailed ? "CUBLAS_STATUS_EXECUTION_FAILED"
                                     : "CUBLAS_STATUS_NOT_SUPPORTED";
}

REPRISE_CUDA Status cublasLtCreate(int **handle) {
  if (!repriseEmulatorIsReady())
    return NotInitialized;
  *handle = new int(0);
  return Success;
}
REPRISE_CUDA Status cublasLtDestroy(int *handle) {
  delete handle;
  return Success;
}

REPRISE_CUDA Status cublasLtMatmulDescCreate(Description **made, int compute, int scale) {
  if (compute != 68 || scale != typeF32)
    return refuse("a computation in another type than f32");
  *made = new Description();
  return Success;
}
REPRISE_CUDA Status cublasLtMatmulDescDestroy(Description *description) {
  delete description;
  return Success;
}
REPRISE_CUDA Status cublasLtMatmulDescSetAttribute(Description *description, int attribute,
                                                   const void *value, size_t bytes) {
  if (attribute == 8)
    return set(description->bias, value, bytes, "the place of a bias");
  if (attribute == 7) {
    Status status = set(description->epilogue, value, bytes, "an epilogue");
    bool isKnown = description->epilogue == epilogueNone || description->epilogue == epilogueBias;
    return status || isKnown ? status : refuse("an epilogue that it lacks");
  }
  if (attribute != 3 && attribute != 4)
    return refuse("attribute " + std::to_string(attribute) + " of a product");
  int32_t &into = description->transposes[attribute - 3];
  Status status = set(into, value, bytes, "a transposition");
  return status || (into >= 0 && into <= 1) ? status : refuse("a transposition that it lacks");
}

REPRISE_CUDA Status cublasLtMatrixLayoutCreate(Matrix **made, int type, uint64_t rows,
                                               uint64_t columns, int64_t pitch) {
  if (type != typeF32 && type != typeF16 && type != typeBF16)
    return refuse("a matrix of type " + std::to_string(type));
  if (!rows || !columns)
    return refuse("an empty matrix");
  *made = new Matrix{type, int64_t(rows), int64_t(columns), pitch, 1, 0};
  return Success;
}
REPRISE_CUDA Status cublasLtMatrixLayoutDestroy(Matrix *matrix) {
  delete matrix;
  return Success;
}
REPRISE_CUDA Status cublasLtMatrixLayoutSetAttribute(Matrix *matrix, int attribute,
                                                     const void *value, size_t bytes) {
  if (attribute == 6)
    return set(matrix->stride, value, bytes, "the stride of a batch");
  if (attribute != 5)
    return refuse("attribute " + std::to_string(attribute) + " of a matrix");
  int32_t count = 0;
  Status status = set(count, value, bytes, "the count of a batch");
  matrix->batch = count;
  return status || count > 0 ? status : refuse("an empty batch");
}

REPRISE_CUDA Status cublasLtMatmulPreferenceCreate(Preference **made) {
  *made = new Preference();
  return Success;
}
REPRISE_CUDA Status cublasLtMatmulPreferenceDestroy(Preference *preference) {
  delete preference;
  return Success;
}
REPRISE_CUDA Status cublasLtMatmulPreferenceSetAttribute(Preference *preference, int attribute,
                                                         const void *value, size_t bytes) {
  if (attribute == 1)
    return set(preference->workspace, value, bytes, "the workspace");
  if (attribute == 3)
    return set(preference->reductions, value, bytes, "the reductions");
  if (attribute >= 5 && attribute <= 8)
    return set(preference->alignments[attribute - 5], value, bytes, "an alignment");
  return refuse("attribute " + std::to_string(attribute) + " of a preference");
}

REPRISE_CUDA Status cublasLtMatmulAlgoGetHeuristic(int *, Description *description, Matrix *a,
                                                   Matrix *b, Matrix *c, Matrix *d,
                                                   Preference *preference, int wanted,
                                                   Heuristic *found, int *count) {
  Product product = describe(*description, *a, *b, *d);
  if (std::string fault = faultOf(product, *c); !fault.empty())
    return refuse(fault);
  if (description->epilogue == epilogueBias && !description->bias)
    return refuse("a bias that lies nowhere");
  const char *asked = std::getenv("REPRISE_EMULATED_ALGORITHM");
  uint64_t parts = asked ? std::strtoull(asked, nullptr, 10) : 2;
  bool mayReduce = preference->reductions & reductionComputeType;
  if (!mayReduce || product.terms() < 32 || parts < 1 || parts > mostParts ||
      workspaceOf(product, parts) > preference->workspace)
    parts = 1;
  uint32_t alignment = 256;
  for (uint32_t own : preference->alignments)
    alignment = std::min(alignment, own);
  *count = wanted > 0;
  if (*count)
    found[0] = {{magic, parts, parts > 1 ? reductionComputeType : reductionNone, alignment, {}},
                workspaceOf(product, parts),
                Success,
                1,
                {}};
  return Success;
}

REPRISE_CUDA Status cublasLtMatmulAlgoCheck(int *, Description *description, Matrix *a, Matrix *b,
                                            Matrix *c, Matrix *d, const Algorithm *algorithm,
                                            Heuristic *facts) {
  Product product = describe(*description, *a, *b, *d);
  if (!isAlgorithm(*algorithm) || !faultOf(product, *c).empty())
    return InvalidValue;
  *facts = {*algorithm, workspaceOf(product, algorithm->parts), Success, 1, {}};
  return Success;
}

REPRISE_CUDA Status cublasLtMatmulAlgoConfigGetAttribute(const Algorithm *algorithm, int attribute,
                                                         void *value, size_t bytes,
                                                         size_t *written) {
  if (attribute != 3 || bytes != 4 || !isAlgorithm(*algorithm))
    return refuse("attribute " + std::to_string(attribute) + " of an algorithm");
  uint32_t reduction = uint32_t(algorithm->reduction);
  std::memcpy(value, &reduction, sizeof reduction);
  *written = sizeof reduction;
  return Success;
}

REPRISE_CUDA Status cublasLtMatmul(int *, Description *description, const float *alpha,
                                   const void *atA, Matrix *a, const void *atB, Matrix *b,
                                   const float *beta, const void *atC, Matrix *c, void *atD,
                                   Matrix *d, const Algorithm *algorithm, void *workspace,
                                   size_t workspaceBytes, CUstream stream) {
  Product product = describe(*description, *a, *b, *d);
  if (std::string fault = faultOf(product, *c); !fault.empty())
    return refuse(fault);
  if (*alpha != 1 || *beta != 0 || atC != atD)
    return refuse("a product that is scaled, or added to something");
  if (!isAlgorithm(*algorithm))
    return refuse("an algorithm that it did not give");
  uint64_t needed = workspaceOf(product, algorithm->parts);
  if (needed > workspaceBytes || uint64_t(workspace) % 256)
    return refuse("a workspace of " + std::to_string(workspaceBytes) + " bytes of " +
                  std::to_string(needed) + ", or one that is not aligned");
  for (const void *operand : {atA, atB, static_cast<const void *>(atD), product.bias})
    if (uint64_t(operand) % algorithm->alignment)
      return refuse("an operand that is less aligned than its algorithm was asked for");
  product.atA = atA;
  product.atB = atB;
  product.atD = atD;
  product.workspace = static_cast<float *>(workspace);
  product.parts = algorithm->parts;
  // A library that does not keep to its algorithm.
  if (repriseEmulatorFailsNow("algorithm"))
    product.roundsParts = true;
  std::vector<RepriseEmulatedRange> ranges;
  addRanges(ranges, *a, atA, false);
  addRanges(ranges, *b, atB, false);
  addRanges(ranges, *d, atD, true);
  if (product.bias)
    ranges.push_back({uint64_t(product.bias), uint64_t(d->rows) * bytesOfType(d->type), false});
  ranges.push_back({uint64_t(workspace), needed, true});
  CUresult result = repriseEmulatorCompute(
      stream, "cublasLtMatmul", ranges.data(), ranges.size(),
      [](void *data) { static_cast<Product *>(data)->run(); }, new Product(product),
      [](void *data) { delete static_cast<Product *>(data); });
  return result == CUDA_SUCCESS ? Success : ExecutionFailed;
}
