// reprise: tests of .npy files
#include "reprise/Runtime/Npy.h"
#include "TestBundle.h"
#include "reprise/Runtime/File.h"

#include "gtest/gtest.h"
#include <cstring>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

/// A file of version 1.0, or with a length of four bytes, of version `major`.
std::string npy(const std::string &header, const std::string &data, unsigned major = 1) {
  std::string file("\x93NUMPY", 6);
  file += {char(major), '\0', char(header.size() & 0xff), char(header.size() >> 8)};
  if (major >= 2)
    file += std::string(2, '\0');
  return file + header + data;
}

class Npy : public ::testing::Test {
protected:
  /// The message of opening, or "ok".
  std::string open(const std::string &file, DType dtype) {
    std::string path = folder.file("a.npy");
    EXPECT_FALSE(bool(writeFile(path, file.data(), file.size())));
    Expected<ArrayFile> array = openNpy(path, dtype);
    if (array)
      return "ok";
    std::string start = "cannot read '" + path + "': ";
    EXPECT_EQ(array.message().substr(0, start.size()), start);
    return array.message().substr(start.size());
  }
  TemporaryFolder folder;
};

TEST_F(Npy, WritesWhatNumpyWrites) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  ASSERT_FALSE(bool(writeNpy(folder.file("a.npy"), {"a", DType::F32, {2, 3}, data})));
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  text += std::string(118 - 1 - text.size(), ' ') + "\n";
  EXPECT_EQ(contents(folder.file("a.npy")),
            npy(text, std::string(reinterpret_cast<char *>(data), sizeof data)));
}

TEST_F(Npy, RoundTripOfEveryTypeAndRank) {
  const std::vector<int64_t> shapes[] = {{}, {3}, {2, 3}, {0, 4}, {1, 1, 2, 5}};
  for (unsigned type = 0; type < numDTypes; ++type) {
    for (const std::vector<int64_t> &shape : shapes) {
      DType dtype = DType(type);
      ArrayRef array{"a", dtype, shape, nullptr};
      std::vector<uint8_t> data(array.bytes() + 1);
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = i & 1;
      array.data = data.data();
      std::string path = folder.file("a.npy");
      ASSERT_FALSE(bool(writeNpy(path, array)));
      EXPECT_EQ((contents(path).size() - array.bytes()) % 64, 0u);
      Expected<ArrayFile> file = openNpy(path, dtype);
      ASSERT_TRUE(bool(file)) << file.message();
      EXPECT_EQ(file->shape(), shape);
      std::vector<uint8_t> again(data.size(), 9);
      ASSERT_FALSE(bool(file->read(again.data(), 0, array.bytes())));
      EXPECT_EQ(std::memcmp(again.data(), data.data(), array.bytes()), 0);
      EXPECT_EQ(again.back(), 9);
    }
  }
}

TEST_F(Npy, AcceptsOtherSpellings) {
  std::string data(8, '\0');
  EXPECT_EQ(
      open(npy("{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":False}", data), DType::F32),
      "ok");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", data), DType::F32),
            "ok");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n", data, 2),
                 DType::F32),
            "ok");
}

TEST_F(Npy, RefusesWhatItShould) {
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  std::string data(24, '\0');
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    return npy(text.replace(text.find(from), from.size(), to), data);
  };
  EXPECT_EQ(open("hello", DType::F32), "expected a .npy file");
  EXPECT_EQ(open("", DType::F32), "expected a .npy file");
  EXPECT_EQ(open(npy(good, data, 3), DType::F32),
            "version 3.0 of the .npy format, expected 1.0 or 2.0");
  EXPECT_EQ(open(npy(good, data), DType::F64), "type '<f4', expected '<f8' for f64");
  EXPECT_EQ(open(npy(good, data), DType::BF16), "type '<f4', expected '<u2' for bf16");
  EXPECT_EQ(open(with("<f4", ">f4"), DType::F32), "big endian, expected little endian");
  EXPECT_EQ(open(with("'<f4'", "[('a', '<f4')]"), DType::F32), "the header cannot be parsed");
  EXPECT_EQ(open(with("False", "True"), DType::F32), "the order is Fortran, expected C");
  EXPECT_EQ(open(npy(good, data.substr(1)), DType::F32), "truncated: 23 of 24 bytes");
  EXPECT_EQ(open(npy(good, data + "x"), DType::F32), "1 byte more than the shape needs");
  EXPECT_EQ(open(with("2, 3", "999999999999, 999999999999"), DType::F32),
            "the shape [999999999999, 999999999999] is out of range");
  EXPECT_EQ(open(with("2, 3", "-2, 3"), DType::F32), "the header cannot be parsed");
  EXPECT_EQ(open(with("2, 3", "3"), DType::F32), "the header cannot be parsed");
  EXPECT_EQ(open(with("'shape'", "'descr'"), DType::F32), "the header cannot be parsed");
  EXPECT_EQ(openNpy("/dev/zero", DType::F32).message(),
            "cannot read '/dev/zero': expected a regular file");
}

TEST_F(Npy, EveryTruncationIsFound) {
  std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(open(good.substr(0, size), DType::F32), "ok") << size << " bytes";
  EXPECT_EQ(open(good, DType::F32), "ok");
}

TEST_F(Npy, EveryChangedHeaderByteIsSurvived) {
  std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678");
  for (size_t i = 0; i < good.size() - 8; ++i)
    for (char value : {'\0', '\xff', '(', '\'', '9', '}'}) {
      std::string bad = good;
      bad[i] = value;
      (void)open(bad, DType::F32);
    }
}

TEST_F(Npy, BoolsAreChecked) {
  ASSERT_EQ(
      open(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\2"), DType::I1),
      "ok");
  Expected<ArrayFile> file = openNpy(folder.file("a.npy"), DType::I1);
  uint8_t bools[2];
  EXPECT_FALSE(bool(file->read(bools, 0, 1)));
  EXPECT_EQ(file->read(bools, 0, 2).message(), "cannot read '" + folder.file("a.npy") +
                                                   "': the bool at position 1 is neither 0 nor 1");
}

TEST_F(Npy, PartsMakeTheFileOfTheWhole) {
  uint16_t data[15];
  for (uint16_t i = 0; i < 15; ++i)
    data[i] = uint16_t(0x7f7c + i); // some are NaNs
  ASSERT_FALSE(writeNpy(folder.file("whole.npy"), {"a", DType::BF16, {5, 3}, data}));
  ArrayRef first{"a", DType::BF16, {1, 3}, data, 0, 5},
      second{"a", DType::BF16, {3, 3}, data + 3, 1, 5},
      third{"a", DType::BF16, {1, 3}, data + 12, 4, 5};
  ASSERT_FALSE(writeNpyParts(folder.file("parts.npy"), {first, second, third}));
  EXPECT_EQ(contents(folder.file("parts.npy")), contents(folder.file("whole.npy")));
  // Several writers write rows, in any order.
  for (const ArrayRef &part : {third, first, second})
    ASSERT_FALSE(writeNpyRows(folder.file("rows.npy"), part));
  EXPECT_EQ(contents(folder.file("rows.npy")), contents(folder.file("whole.npy")));
  EXPECT_EQ(writeNpyRows("/nowhere/a.npy", first).message(),
            "cannot write '/nowhere/a.npy': No such file or directory");
}

TEST_F(Npy, NaNsAreCanonicalInFiles) {
  uint32_t data[5] = {0xffc12345, 0x7f800001, 0x7f800000, 0xff800000, 0x80000000};
  ASSERT_FALSE(bool(writeNpy(folder.file("a.npy"), {"a", DType::F32, {5}, data})));
  std::string file = contents(folder.file("a.npy"));
  uint32_t written[5];
  std::memcpy(written, file.data() + file.size() - sizeof written, sizeof written);
  EXPECT_EQ(written[0], 0x7fc00000u);
  EXPECT_EQ(written[1], 0x7fc00000u);
  EXPECT_EQ(written[2], 0x7f800000u);
  EXPECT_EQ(written[3], 0xff800000u);
  EXPECT_EQ(written[4], 0x80000000u);
  EXPECT_EQ(data[0], 0xffc12345u) << "the array itself is left alone";
}

TEST(CanonicalNaNs, OfTheOtherTypes) {
  uint64_t wide[] = {0xfff8000000000123u, 0x7ff0000000000000u};
  canonicalizeNaNs(DType::F64, wide, 2);
  EXPECT_EQ(wide[0], 0x7ff8000000000000u);
  EXPECT_EQ(wide[1], 0x7ff0000000000000u);
  uint16_t brain[] = {0xff81, 0x7f80, 0x8000}, half[] = {0xfc01, 0x7c00, 0x8001};
  canonicalizeNaNs(DType::BF16, brain, 3);
  canonicalizeNaNs(DType::F16, half, 3);
  EXPECT_EQ(brain[0], 0x7fc0);
  EXPECT_EQ(brain[1], 0x7f80);
  EXPECT_EQ(half[0], 0x7e00);
  EXPECT_EQ(half[1], 0x7c00);
  uint32_t integers[] = {0xffc12345};
  canonicalizeNaNs(DType::I32, integers, 1);
  EXPECT_EQ(integers[0], 0xffc12345u);
}

} // namespace
