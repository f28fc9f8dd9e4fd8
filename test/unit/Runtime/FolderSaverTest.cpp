// reprise: tests of saves behind the steps: copies, one save at a time, errors
#include "reprise/Runtime/FolderSaver.h"
#include "TestBundle.h"
#include "reprise/Runtime/File.h"

#include "gtest/gtest.h"
#include <chrono>
#include <cstring>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

class Saver : public ::testing::Test {
protected:
  OutputFolder output(const std::string &name) const {
    OutputFolder output{folder.file(name), {"train", {}, {}}, {}, ""};
    output.interface.results.push_back({"a", Role::Input, DType::F32, {4}});
    return output;
  }
  std::vector<ArrayRef> arrays() const { return {{"a", DType::F32, {4}, values}}; }
  /// Returns the first value and the step of a saved file.
  std::pair<float, int64_t> saved(const std::string &name) const {
    auto file = SafetensorsFile::open(folder.file(name));
    if (!file)
      return {-1, -1};
    auto array = (*file)->array("a", DType::F32);
    Expected<RunRecord> record = parseRunRecord((*file)->run());
    float value = -1;
    if (!array || !record || array->read(&value, 0, sizeof value))
      return {-1, -1};
    return {value, record->state.step};
  }
  bool exists(const std::string &name) const {
    return access(folder.file(name).c_str(), F_OK) == 0;
  }
  TemporaryFolder folder;
  float values[4] = {1, 2, 3, 4};
};

TEST_F(Saver, LaterStepsDoNotChangeACopy) {
  FolderSaver saver(nullptr);
  ASSERT_FALSE(bool(saver.begin(output("a.safetensors"), arrays(), {0, 0, 1})));
  values[0] = 9;
  EXPECT_TRUE(saver.isBusy());
  EXPECT_EQ(saver.snapshotBytes(), sizeof values);
  ASSERT_FALSE(bool(saver.finish()));
  EXPECT_FALSE(saver.isBusy());
  EXPECT_EQ(saved("a.safetensors"), std::make_pair(1.0f, int64_t(1)));
  ASSERT_FALSE(bool(saver.finish()));
}

TEST_F(Saver, AFolderAppearsBetweenSteps) {
  FolderSaver saver(nullptr);
  ASSERT_FALSE(bool(saver.poll()));
  ASSERT_FALSE(bool(saver.begin(output("a.safetensors"), arrays(), {0, 0, 1})));
  EXPECT_FALSE(exists("a.safetensors")); // only this thread gives the file its name
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (saver.isBusy() && std::chrono::steady_clock::now() < end)
    ASSERT_FALSE(bool(saver.poll()));
  EXPECT_EQ(saved("a.safetensors"), std::make_pair(1.0f, int64_t(1)));
}

TEST_F(Saver, ASecondSaveWaitsForTheFirst) {
  FolderSaver saver(nullptr);
  ASSERT_FALSE(bool(saver.begin(output("a.safetensors"), arrays(), {0, 0, 1})));
  values[0] = 5;
  ASSERT_FALSE(bool(saver.begin(output("b.safetensors"), arrays(), {0, 0, 2})));
  EXPECT_EQ(saved("a.safetensors"), std::make_pair(1.0f, int64_t(1)));
  values[0] = 6;
  ASSERT_FALSE(bool(saver.save(output("c.safetensors"), arrays(), {0, 0, 3})));
  EXPECT_EQ(saved("b.safetensors"), std::make_pair(5.0f, int64_t(2)));
  EXPECT_EQ(saved("c.safetensors"), std::make_pair(6.0f, int64_t(3)));
}

TEST_F(Saver, AnAbandonedSaveLeavesNothing) {
  {
    FolderSaver saver(nullptr);
    ASSERT_FALSE(bool(saver.begin(output("out"), arrays(), {0, 0, 1})));
  }
  EXPECT_FALSE(exists("out"));
  EXPECT_EQ(rmdir(folder.file("").c_str()), 0); // the hidden folder is gone, too
  mkdir(folder.file("").c_str(), 0777);
}

TEST_F(Saver, AnErrorLeavesNoSaveOutstanding) {
  FolderSaver saver(nullptr);
  std::vector<ArrayRef> wrong = {{"a", DType::F32, {4}, nullptr}};
  EXPECT_EQ(saver.begin(output("out"), wrong, {}).message(),
            "the device did not return the result 'a'");
  EXPECT_FALSE(saver.isBusy());
  EXPECT_FALSE(bool(saver.finish()));
  OutputFolder nowhere = output("none/out");
  EXPECT_TRUE(bool(saver.begin(nowhere, arrays(), {})));
  EXPECT_FALSE(saver.isBusy());
}

} // namespace
