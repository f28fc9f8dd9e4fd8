// reprise: tests of .safetensors files: every type, names, and files of several processes
#include "reprise/Runtime/Safetensors.h"
#include "TestBundle.h"
#include "TestFolder.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/RunFolder.h"

#include "gtest/gtest.h"
#include <cstring>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

class Safetensors : public ::testing::Test {
protected:
  OutputFolder output(const std::string &name, const std::vector<ArrayRef> &arrays) const {
    return describeOutput(folder.file(name), arrays);
  }
  TemporaryFolder folder;
};

TEST_F(Safetensors, RoundTripOfEveryTypeAndRank) {
  const std::vector<int64_t> shapes[] = {{}, {3}, {2, 3}, {0, 4}, {1, 1, 2, 5}};
  std::vector<ArrayRef> arrays;
  std::vector<std::vector<uint8_t>> data;
  for (unsigned type = 0; type < numDTypes; ++type)
    for (const std::vector<int64_t> &shape : shapes) {
      ArrayRef array{"a/" + std::to_string(arrays.size()), DType(type), shape, nullptr};
      data.emplace_back(array.bytes() + 1);
      for (size_t i = 0; i < data.back().size(); ++i)
        data.back()[i] = i & 1;
      arrays.push_back(array);
    }
  for (size_t i = 0; i < arrays.size(); ++i)
    arrays[i].data = data[i].data();
  ASSERT_FALSE(bool(writeRunFolder(output("a.safetensors", arrays), arrays, {1, 4, 2})));
  auto file = SafetensorsFile::open(folder.file("a.safetensors"));
  ASSERT_TRUE(bool(file)) << file.message();
  EXPECT_EQ((*file)->tensors().size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    auto array = (*file)->array("a." + std::to_string(i), arrays[i].dtype);
    ASSERT_TRUE(bool(array)) << array.message();
    EXPECT_EQ(array->shape(), arrays[i].shape);
    std::vector<uint8_t> read(arrays[i].bytes());
    ASSERT_FALSE(bool(array->read(read.data(), 0, read.size())));
    EXPECT_EQ(std::memcmp(read.data(), data[i].data(), read.size()), 0);
    auto other = (*file)->array("a." + std::to_string(i),
                                arrays[i].dtype == DType::F32 ? DType::I32 : DType::F32);
    EXPECT_FALSE(bool(other));
  }
  Expected<RunRecord> record = parseRunRecord((*file)->run());
  ASSERT_TRUE(bool(record));
  EXPECT_EQ(record->state.offset, 4);
}

TEST_F(Safetensors, ABoolOtherThanZeroAndOneIsAnError) {
  uint8_t data[2] = {1, 1};
  std::vector<ArrayRef> arrays = {{"a", DType::I1, {2}, data}};
  ASSERT_FALSE(bool(writeRunFolder(output("a.safetensors", arrays), arrays, {})));
  std::string path = folder.file("a.safetensors"), text = contents(path);
  text.back() = 2;
  ASSERT_FALSE(bool(writeFile(path, text.data(), text.size())));
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(bool(file));
  auto array = (*file)->array("a", DType::I1);
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(array->read(data, 0, 2).message(),
            "cannot read '" + path + "': tensor 'a': the bool at position 1 is neither 0 nor 1");
}

TEST_F(Safetensors, NamesAreMappedBothWays) {
  std::string path = folder.file("names.json"), text = R"({"a/b": ["x", "y"], "c": "z"})";
  ASSERT_FALSE(bool(writeFile(path, text.data(), text.size())));
  Expected<TensorNames> names = TensorNames::read(path);
  ASSERT_TRUE(bool(names)) << names.message();
  EXPECT_EQ(names->of("a/b"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(names->of("c"), std::vector<std::string>{"z"});
  EXPECT_EQ(names->of("d/e"), std::vector<std::string>{"d.e"});
}

TEST_F(Safetensors, AResultThatTheDeviceDoesNotReturnIsAnError) {
  std::vector<ArrayRef> arrays = {{"a", DType::F32, {2}, nullptr}};
  EXPECT_EQ(writeRunFolder(output("a.safetensors", arrays), arrays, {}).message(),
            "cannot write '" + folder.file("a.safetensors") +
                "': the device did not return the result 'a'");
}

} // namespace
