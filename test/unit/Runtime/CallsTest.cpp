// reprise: tests of library calls as numbers, and of their checks in a bundle
#include "TestBundle.h"
#include "reprise/Support/LibraryCall.h"
#include "gtest/gtest.h"

using namespace reprise;
using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

/// Makes a product of 16 rows by 24 columns by 32 terms, twice; the right operand is transposed.
MatrixProduct smallProduct() {
  MatrixProduct p;
  p.batch = 2;
  p.rows = 16;
  p.columns = 24;
  p.terms = 32;
  p.leftPitch = 32;
  p.leftStride = 512;
  p.rightTransposed = 1;
  p.rightPitch = 40;
  p.rightStride = 1280;
  p.workspace = 256;
  return p;
}

Bundle productBundle() {
  Bundle bundle = trainingBundle(1);
  Program &step = bundle.programs[0];
  Command call;
  call.kind = CommandKind::Call;
  call.function = MatrixProduct::function;
  call.numbers = smallProduct().numbers();
  constexpr Access accesses[] = {Read, Read, Write, ReadWrite};
  for (size_t i = 0; i < 4; ++i) {
    Operand operand;
    operand.buffer = arena((step.arenaBytes + 63) / 64 * 64, smallProduct().bytes()[i]);
    operand.access = accesses[i];
    step.arenaBytes = operand.buffer.offset + operand.buffer.bytes;
    call.operands.push_back(operand);
  }
  step.commands.push_back(call);
  return bundle;
}

Command &callOf(Bundle &bundle) { return bundle.programs[0].commands.back(); }

TEST(Calls, BytesOfOperandsReachFromTheFirstElementToTheLast) {
  auto bytes = smallProduct().bytes();
  EXPECT_EQ(bytes[0], 2u * (512 + 15 * 32 + 32));
  EXPECT_EQ(bytes[1], 2u * (1280 + 31 * 40 + 24));
  EXPECT_EQ(bytes[2], 2u * 2 * 16 * 24);
  EXPECT_EQ(bytes[3], 256u);
}

TEST(Calls, ABiasIsOneMoreNumberAndOperand) {
  MatrixProduct p = smallProduct();
  size_t without = p.numbers().size();
  p.hasBias = true;
  ASSERT_EQ(p.numbers().size(), without + 1);
  EXPECT_EQ(p.bytes(), (std::vector<uint64_t>{2u * (512 + 15 * 32 + 32), 2u * (1280 + 31 * 40 + 24),
                                              2u * 2 * 16 * 24, 256u, 2u * 24}));
  std::vector<int64_t> numbers = p.numbers();
  ASSERT_TRUE(MatrixProduct::from(numbers));
  EXPECT_EQ(MatrixProduct::from(numbers)->numbers(), numbers);
  numbers.back() = 2;
  EXPECT_FALSE(MatrixProduct::from(numbers)) << "another epilogue";
  Bundle bundle = productBundle();
  callOf(bundle).numbers = p.numbers();
  auto refused = serializeBundle(bundle);
  ASSERT_FALSE(bool(refused)) << "an operand is missing";
  EXPECT_NE(refused.message().find("has 4 operands"), std::string::npos) << refused.message();
}

TEST(Calls, TheFileHoldsNumbers) {
  Bundle bundle = productBundle();
  auto file = serializeBundle(bundle);
  ASSERT_TRUE(bool(file)) << file.message();
  auto read = deserializeBundle(file->data(), file->size(), "m.rpb");
  ASSERT_TRUE(bool(read)) << read.message();
  EXPECT_TRUE(*read == bundle);
  callOf(*read).numbers.back() += 1;
  EXPECT_FALSE(*read == bundle);
}

/// Makes a convolution of 4 × 6 channels in two groups, 9 × 8 positions, windows of 3 × 3 at steps
/// of 2 and 1.
LibraryConvolution smallConvolution() {
  LibraryConvolution c;
  c.samples = 2;
  c.channels = 4;
  c.outputs = 6;
  c.groups = 2;
  c.image = {9, 8};
  c.window = {3, 3};
  c.stride = {2, 1};
  c.pad = {1, 0};
  c.output = {5, 6};
  c.workspace = 512;
  return c;
}

TEST(Calls, ConvolutionsHaveTheirOperandsInTheOrderOfTheirFunction) {
  LibraryConvolution c = smallConvolution();
  ASSERT_TRUE(c.isValid());
  EXPECT_EQ(LibraryConvolution::from(c.numbers())->numbers(), c.numbers());
  constexpr uint64_t image = 2 * 2 * 4 * 72, filter = 2 * 6 * 2 * 9, output = 2 * 2 * 6 * 30;
  using Bytes = std::vector<uint64_t>;
  EXPECT_EQ(c.bytes(LibraryConvolution::forward), (Bytes{image, filter, output, 512}));
  EXPECT_EQ(c.bytes(LibraryConvolution::data), (Bytes{output, filter, image, 512}));
  EXPECT_EQ(c.bytes(LibraryConvolution::filter), (Bytes{image, output, filter, 512}));
}

TEST(Calls, WrongNumbersOfConvolutionsAreRefused) {
  auto refuses = [](auto change) {
    LibraryConvolution c = smallConvolution();
    change(c);
    return !LibraryConvolution::from(c.numbers());
  };
  EXPECT_FALSE(refuses([](LibraryConvolution &) {}));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.type = callF32; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.groups = 3; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.groups = 0; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.output[0] = 4; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.window[1] = 9; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.pad[1] = -1; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.stride[0] = 0; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.dilation[0] = int64_t(1) << 40; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.samples = int64_t(1) << 28; }));
  EXPECT_TRUE(refuses([](LibraryConvolution &c) { c.workspace = mostCallWorkspace + 1; }));
  EXPECT_FALSE(LibraryConvolution::from({1, 2, 3}));
}

TEST(Calls, WorkspaceIsBoundedByTheShape) {
  EXPECT_EQ(workspaceOfCall(16 * 16), 2048 + workspaceAlignment);
  EXPECT_EQ(workspaceOfCall(1), 2 * workspaceAlignment);
  EXPECT_EQ(workspaceOfCall(int64_t(1) << 40), mostCallWorkspace);
}

TEST(Calls, AlignedWorkspaceStaysWithinItsPlace) {
  for (int64_t bytes : {int64_t(0), int64_t(255), int64_t(256), workspaceOfCall(256)})
    for (int64_t at = 4096; at < 4096 + workspaceAlignment; at += callAlignment) {
      if (int64_t usable = usableWorkspace(bytes); usable > 0)
        EXPECT_LE(alignWorkspace(at) + usable, at + bytes);
      EXPECT_EQ(alignWorkspace(at) % workspaceAlignment, 0);
    }
  EXPECT_GE(usableWorkspace(workspaceOfCall(256)), 2 * 256 * 4);
}

TEST(Calls, WrongNumbersAreRefused) {
  auto refuses = [](auto change) {
    MatrixProduct product = smallProduct();
    change(product);
    return !MatrixProduct::from(product.numbers());
  };
  EXPECT_FALSE(refuses([](MatrixProduct &) {}));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.type = 1; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.resultType = callF16; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.batch = 0; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.rows = -1; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.terms = mostCallSize; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.leftTransposed = 2; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.leftPitch = 31; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.rightPitch = 23; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.leftStride = INT64_MAX; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.workspace = mostCallWorkspace + 1; }));
  EXPECT_TRUE(refuses([](MatrixProduct &p) { p.rows = p.columns = mostCallSize - 1; }));
  EXPECT_FALSE(MatrixProduct::from({1, 2, 3}));
}

TEST(Calls, ABundleWhoseNumbersDoNotFitItsBuffersIsMalformed) {
  auto errorOf = [](auto change) {
    Bundle bundle = productBundle();
    change(callOf(bundle));
    Error error = validateBundle(bundle);
    return error ? error.message() : "";
  };
  EXPECT_EQ(errorOf([](Command &) {}), "");
  auto names = [](const std::string &error, const std::string &what) {
    return error.find(what) != std::string::npos;
  };
  std::string numbers = "malformed numbers of a call of 'cublasLtMatmul'";
  EXPECT_TRUE(names(errorOf([](Command &c) { c.numbers.pop_back(); }), numbers));
  EXPECT_TRUE(names(errorOf([](Command &c) { c.numbers.clear(); }), numbers));
  EXPECT_TRUE(names(errorOf([](Command &c) { c.function = "other"; }),
                    "numbers for the unknown function 'other'"));
  EXPECT_TRUE(names(errorOf([](Command &c) { c.operands.pop_back(); }), "has 3 operands"));
  for (size_t i = 0; i < 4; ++i) {
    std::string wrong = "operand " + std::to_string(i) + " of a call of 'cublasLtMatmul'";
    EXPECT_TRUE(names(errorOf([&](Command &c) { --c.operands[i].buffer.bytes; }), wrong)) << i;
    EXPECT_TRUE(names(errorOf([&](Command &c) {
                        c.operands[i].access = c.operands[i].access == Read ? Write : Read;
                      }),
                      wrong))
        << i;
  }
  EXPECT_TRUE(names(errorOf([](Command &c) {
                      c.kind = CommandKind::Record;
                      c.operands.clear();
                    }),
                    "a function without a library call"));
}

} // namespace
