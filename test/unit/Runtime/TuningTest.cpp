// reprise: tests of the file of chosen algorithms
#include "reprise/Runtime/Tuning.h"
#include "reprise/Runtime/File.h"
#include "gtest/gtest.h"

using namespace reprise::runtime;

namespace {

const TuningMachine first{"first \"GPU\"", "cuBLASLt", "1"}, other{"other", "cuBLASLt", "1"};

struct TuningTest : ::testing::Test {
  std::string path = ::testing::TempDir() + "tuning-test.json";

  void SetUp() override { std::remove(path.c_str()); }
  void TearDown() override { std::remove(path.c_str()); }
  void write(const std::string &text) {
    ASSERT_FALSE(bool(writeFile(path, text.data(), text.size())));
  }
  std::string read() {
    auto bytes = readFile(path);
    return bytes ? std::string(bytes->begin(), bytes->end()) : "";
  }
  std::string errorOf(const std::string &text) {
    write(text);
    auto found = Tuning(path).find(first, "k");
    return found ? "" : found.message();
  }
};

TEST_F(TuningTest, WhatWasChosenIsReadAgain) {
  {
    Tuning tuning(path);
    EXPECT_FALSE(tuning.find(first, "a 1")->has_value());
    tuning.choose(first, "a 1", {0, 255, 16});
    tuning.choose(first, "a 2", {});
    tuning.write();
    EXPECT_TRUE(tuning.takeNotes().empty());
  }
  Tuning tuning(path);
  EXPECT_EQ(**tuning.find(first, "a 1"), (std::vector<uint8_t>{0, 255, 16}));
  EXPECT_TRUE((*tuning.find(first, "a 2"))->empty());
  EXPECT_FALSE(tuning.find(first, "a 3")->has_value());
  std::string before = read();
  tuning.write();
  EXPECT_EQ(read(), before) << "nothing has changed";
  EXPECT_TRUE(tuning.takeNotes().empty());
}

TEST_F(TuningTest, NothingIsWrittenBeforeSomethingIsChosen) {
  Tuning tuning(path);
  (void)tuning.find(first, "k");
  tuning.write();
  EXPECT_EQ(read(), "");
}

TEST_F(TuningTest, AnotherVersionChoosesAgain) {
  Tuning before(path);
  before.choose(first, "k", {1});
  before.write();
  TuningMachine later = first;
  later.version = "2";
  Tuning tuning(path);
  EXPECT_FALSE(tuning.find(later, "k")->has_value());
  EXPECT_EQ(tuning.takeNotes(), std::vector<std::string>{
                                    path + ": was chosen by cuBLASLt 1, and is chosen again by 2"});
  tuning.choose(later, "k", {2});
  tuning.write();
  EXPECT_EQ(**Tuning(path).find(later, "k"), std::vector<uint8_t>{2});
}

TEST_F(TuningTest, AnotherGpuChoosesAgainAndSeveralShareAFile) {
  Tuning before(path);
  before.choose(first, "k", {1});
  before.write();
  Tuning tuning(path);
  EXPECT_FALSE(tuning.find(other, "k")->has_value());
  EXPECT_EQ(tuning.takeNotes().size(), 1u);
  tuning.choose(other, "k", {2});
  tuning.write();
  EXPECT_FALSE(Tuning(path).find(first, "k")->has_value()) << "it is replaced";
  Tuning both(path);
  both.choose(first, "k", {3});
  EXPECT_FALSE(both.find(first, "l")->has_value());
  both.choose(other, "k", {4});
  both.write();
  Tuning again(path);
  EXPECT_EQ(**again.find(other, "k"), std::vector<uint8_t>{4});
  EXPECT_EQ(**again.find(first, "k"), std::vector<uint8_t>{3});
}

TEST_F(TuningTest, HostileFilesAreOneError) {
  std::string is = path + ": is not a file of chosen algorithms: ";
  EXPECT_EQ(errorOf("{}"), is + "expected version 1");
  EXPECT_EQ(errorOf("{\"version\": 1, \"gpus\": {}}"), is + "expected a list 'gpus'");
  EXPECT_EQ(errorOf("{\"version\": 1, \"gpus\": [3]}"),
            is + "expected 'gpu' and 'libraries' of each GPU");
  std::string start = "{\"version\": 1, \"gpus\": [{\"gpu\": \"g\", \"libraries\": {\"l\": ";
  EXPECT_EQ(errorOf(start + "[]}}]}"), is + "expected 'version' and 'algorithms' of 'l'");
  for (const char *value : {"\"0\"", "\"0g\"", "\"FF\"", "7", "null"})
    EXPECT_EQ(errorOf(start + "{\"version\": \"1\", \"algorithms\": {\"k\": " + value + "}}}}]}"),
              is + "expected bytes for 'k'")
        << value;
  EXPECT_NE(errorOf("["), "");
  EXPECT_NE(errorOf(std::string("\0\1", 2)), "");
}

TEST_F(TuningTest, OneProcessReadsAndWritesForAll) {
  Tuning before(path);
  before.choose(first, "k", {1});
  before.write();
  auto contents = Tuning(path).readContents();
  ASSERT_TRUE(bool(contents));
  Tuning writer(path), reader("/no/such/file");
  for (Tuning *each : {&writer, &reader}) {
    ASSERT_FALSE(bool(each->take(*contents)));
    EXPECT_EQ(**each->find(first, "k"), std::vector<uint8_t>{1});
  }
  writer.choose(first, "a", {2});
  reader.choose(first, "a", {3});
  reader.choose(first, "b", {4});
  reader.choose(other, "k", {5});
  ASSERT_FALSE(bool(writer.add(reader.contents())));
  writer.write();
  Tuning after(path);
  EXPECT_EQ(**after.find(first, "a"), std::vector<uint8_t>{2}) << "the choice that is there stays";
  EXPECT_EQ(**after.find(first, "b"), std::vector<uint8_t>{4});
  EXPECT_EQ(**after.find(first, "k"), std::vector<uint8_t>{1});
  EXPECT_EQ(**after.find(other, "k"), std::vector<uint8_t>{5});
  EXPECT_TRUE(bool(after.add("{}")));
}

TEST_F(TuningTest, WhatAnotherProcessChoseAgainReplacesWhatWasRead) {
  Tuning before(path);
  before.choose(first, "k", {1});
  before.write();
  TuningMachine later = first;
  later.version = "2";
  Tuning writer(path), reader(path);
  (void)writer.find(other, "k");
  EXPECT_FALSE(reader.find(later, "k")->has_value());
  reader.choose(later, "k", {2});
  ASSERT_FALSE(bool(writer.add(reader.contents())));
  writer.write();
  EXPECT_EQ(**Tuning(path).find(later, "k"), std::vector<uint8_t>{2});
  Tuning otherVersion;
  otherVersion.choose(first, "k", {3});
  ASSERT_FALSE(bool(otherVersion.add(reader.contents())));
  EXPECT_EQ(**otherVersion.find(first, "k"), std::vector<uint8_t>{3}) << "one version of a library";
}

TEST_F(TuningTest, AFileThatCannotBeWrittenIsANote) {
  Tuning tuning("/no/such/folder/t");
  tuning.choose(first, "k", {1});
  tuning.write();
  std::vector<std::string> notes = tuning.takeNotes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("cannot write '/no/such/folder/t'"), std::string::npos);
  EXPECT_EQ(**tuning.find(first, "k"), std::vector<uint8_t>{1});
}

TEST_F(TuningTest, OnlyABundleThatIsAFileHasOne) {
  write("{}");
  EXPECT_EQ(Tuning::pathBeside(path), path + ".tuning");
  EXPECT_EQ(Tuning::pathBeside("-"), "");
  EXPECT_EQ(Tuning::pathBeside("/dev/null"), "");
}

} // namespace
