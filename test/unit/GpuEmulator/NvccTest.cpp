// reprise: nvcc's code of kernels, executed; skipped if nvcc is missing
#include "Driver.h"
#include "SlowFloat.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <unistd.h>

using namespace reprise::emulator;

namespace {

const std::string sources = REPRISE_SOURCE "/test/unit/GpuEmulator/Inputs/";

/// Returns the text that a command prints; an empty text if the command fails.
std::string outputOf(const std::string &command) {
  std::string text;
  FILE *pipe = popen((command + " 2>/dev/null").c_str(), "r");
  for (int c; pipe && (c = fgetc(pipe)) != EOF;)
    text += char(c);
  return pipe && pclose(pipe) == 0 ? text : "";
}

std::string findNvcc() {
  std::string found = outputOf("command -v nvcc || command -v \"$CUDA_PATH/bin/nvcc\"");
  return found.substr(0, found.find('\n'));
}

/// The folder of cuRAND's headers: a CUDA folder's, or pip's nvidia-curand.
std::string findCurand() {
  std::string found =
      outputOf("python3 -c 'import glob, os, shutil, sys\n"
               "nvcc = os.path.realpath(shutil.which(\"nvcc\") or \"\")\n"
               "folders = [os.path.join(nvcc, \"..\", \"..\", \"include\"), "
               "os.environ.get(\"CUDA_PATH\", \"\") + \"/include\"]\n"
               "folders += [f for p in sys.path for f in glob.glob(p + \"/nvidia/**/include\", "
               "recursive=True)]\n"
               "print(next(f for f in folders if os.path.exists(f + \"/curand_kernel.h\")))'");
  return found.substr(0, found.find('\n'));
}

std::string compile(const std::string &nvcc, const std::string &name, const std::string &options) {
  char folder[] = "/tmp/reprise-nvcc-XXXXXX";
  if (!mkdtemp(folder))
    return "";
  std::string out = std::string(folder) + "/out.ptx";
  outputOf(nvcc + " -ptx -arch=sm_90 -O3 " + options + " " + sources + name + " -o " + out);
  std::ifstream file(out);
  std::stringstream text;
  text << file.rdbuf();
  std::remove(out.c_str());
  rmdir(folder);
  return text.str();
}

#define NEED_NVCC()                                                                                \
  std::string nvcc = findNvcc();                                                                   \
  if (nvcc.empty())                                                                                \
  GTEST_SKIP() << "no nvcc"

class NvccKernels : public EmulatedDriver {
protected:
  template <typename T> CUdeviceptr giveAll(const std::vector<T> &values) {
    CUdeviceptr address = reserve(values.size() * sizeof(T));
    EXPECT_EQ(cuMemcpyHtoD_v2(address, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    return address;
  }
  CUdeviceptr reserve(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  template <typename T> std::vector<T> takeAll(CUdeviceptr address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), address, count * sizeof(T)), CUDA_SUCCESS)
        << repriseEmulatorLastError();
    return values;
  }
  template <typename... Args>
  CUresult run(CUfunction function, Dim grid, Dim block, Args... arguments) {
    void *params[] = {&arguments...};
    CUresult result = cuLaunchKernel(function, grid.x, grid.y, 1, block.x, block.y, 1, 0, nullptr,
                                     params, nullptr);
    return result ? result : cuCtxSynchronize();
  }
};

/// The streams of cuRAND's vectors: keys of three numbers, and eight words and uniforms of each.
struct Vectors {
  std::vector<uint64_t> keys;
  std::vector<uint32_t> words, uniforms;
};

Vectors readVectors() {
  Vectors vectors;
  std::ifstream file(REPRISE_TEST_DATA "/philox/curand_reference.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');)
      row.push_back(cell);
    for (int i = 0; i < 3 && row[3] == "0"; ++i)
      vectors.keys.push_back(std::stoull(row[i]));
    vectors.words.push_back(std::stoul(row[11], nullptr, 16));
    vectors.uniforms.push_back(std::stoul(row[12], nullptr, 16));
  }
  return vectors;
}

TEST_F(NvccKernels, DrawPhiloxWords) {
  NEED_NVCC();
  start("shuffled");
  Vectors vectors = readVectors();
  uint32_t count = vectors.keys.size() / 3;
  ASSERT_EQ(vectors.words.size(), count * 8u);
  std::string ptx = compile(nvcc, "philox.cu", "-I" REPRISE_SOURCE "/kernels");
  CUdeviceptr words = reserve(vectors.words.size() * 4);
  CUDA_OK(run(load(ptx.c_str(), "draw"), {2}, {32}, giveAll(vectors.keys), words, count));
  EXPECT_EQ(takeAll<uint32_t>(words, vectors.words.size()), vectors.words);
}

TEST_F(NvccKernels, DrawCurandsWords) {
  NEED_NVCC();
  std::string curand = findCurand();
  if (curand.empty())
    GTEST_SKIP() << "no headers of cuRAND";
  start();
  Vectors vectors = readVectors();
  uint32_t count = vectors.keys.size() / 3;
  std::string ptx = compile(nvcc, "curand.cu", "-I" + curand);
  CUdeviceptr keys = giveAll(vectors.keys), words = reserve(vectors.words.size() * 4),
              uniforms = reserve(vectors.words.size() * 4);
  CUDA_OK(run(load(ptx.c_str(), "draw"), {2}, {32}, keys, words, count));
  EXPECT_EQ(takeAll<uint32_t>(words, vectors.words.size()), vectors.words);
  CUDA_OK(run(load(ptx.c_str(), "uniforms"), {2}, {32}, keys, uniforms, count));
  EXPECT_EQ(takeAll<uint32_t>(uniforms, vectors.words.size()), vectors.uniforms);
}

std::vector<float> randomFloats(size_t count) {
  std::mt19937 random(count);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  return values;
}

TEST_F(NvccKernels, ReduceAndMultiply) {
  NEED_NVCC();
  std::string ptx = compile(nvcc, "kernels.cu", "--fmad=false");
  for (const char *order : {"forwards", "backwards", "shuffled"}) {
    start(order);
    int rows = 7, columns = 1000;
    std::vector<float> x = randomFloats(rows * columns);
    CUdeviceptr out = reserve(rows * 4);
    CUDA_OK(run(load(ptx.c_str(), "sums"), {7}, {128}, giveAll(x), out, columns));
    std::vector<float> sums = takeAll<float>(out, rows);
    for (int row = 0; row < rows; ++row) {
      double sum = 0;
      for (int i = 0; i < columns; ++i)
        sum += x[row * columns + i];
      EXPECT_NEAR(sums[row], sum, 1e-3);
    }
    int m = 37, n = 29, k = 50;
    std::vector<float> a = randomFloats(m * k), b = randomFloats(k * n);
    CUdeviceptr aAt = giveAll(a), bAt = giveAll(b), c = reserve(m * n * 4);
    CUDA_OK(run(load(ptx.c_str(), "product"), {2, 3}, {16, 16}, aAt, bAt, c, m, n, k));
    std::vector<float> got = takeAll<float>(c, m * n);
    for (int i = 0; i < m * n; ++i) {
      float sum = 0;
      for (int j = 0; j < k; ++j)
        sum = std::fmaf(a[i / n * k + j], b[j * n + i % n], sum);
      ASSERT_EQ(got[i], sum);
    }
    EXPECT_EQ(run(load(ptx.c_str(), "racing"), {2, 3}, {16, 16}, aAt, bAt, c, m, n, k),
              CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(std::string(repriseEmulatorLastError()).find("race"), std::string::npos);
  }
}

TEST_F(NvccKernels, CopyAndConvert) {
  NEED_NVCC();
  std::string ptx = compile(nvcc, "kernels.cu", "--fmad=false");
  start();
  std::vector<float> x = randomFloats(512);
  CUdeviceptr y = reserve(2048);
  CUDA_OK(run(load(ptx.c_str(), "reversed"), {1}, {128}, giveAll(x), y));
  std::vector<float> got = takeAll<float>(y, 512);
  for (int i = 0; i < 512; ++i)
    ASSERT_EQ(got[i], x[(127 - i / 4) * 4 + i % 4]);

  std::vector<uint16_t> half(128), brain(128);
  for (int i = 0; i < 128; ++i) {
    half[i] = halfFormat.round(x[i]);
    brain[i] = bfloatFormat.round(x[i]);
  }
  CUdeviceptr halves = reserve(256), brains = reserve(256);
  CUDA_OK(
      run(load(ptx.c_str(), "narrow"), {1}, {64}, giveAll(half), giveAll(brain), halves, brains));
  auto gotHalf = takeAll<uint16_t>(halves, 128), gotBrain = takeAll<uint16_t>(brains, 128);
  for (int i = 0; i < 128; ++i) {
    Exact h = halfFormat.widen(half[i]), b = bfloatFormat.widen(brain[i]);
    Exact low = halfFormat.widen(halfFormat.round(h / 2));
    ASSERT_EQ(gotHalf[i], halfFormat.round(h * h + low));
    ASSERT_EQ(gotBrain[i], std::max(float(b * b + b), float(b + b)) == float(b + b)
                               ? bfloatFormat.round(b + b)
                               : bfloatFormat.round(b * b + b));
  }
}

uint32_t expectedSteps(uint32_t i) {
  uint32_t steps = 0;
  for (uint64_t n = i + 1; n != 1; ++steps)
    n = n % 2 ? 3 * n + 1 : n / 2;
  uint32_t reversedBits = 0;
  for (unsigned bit = 0; bit < 32; ++bit)
    reversedBits |= (steps >> bit & 1) << (31 - bit);
  switch (i % 5) {
  case 0:
    return steps + 5;
  case 1:
    return __builtin_popcount(steps) + (steps ? __builtin_clz(steps) : 32);
  case 2:
    return reversedBits ^ uint32_t(uint64_t(steps) * 0xdeadbeef >> 32);
  case 3:
    return steps / (i % 11 + 1) + steps % 13;
  default:
    return steps;
  }
}

TEST_F(NvccKernels, CallAndDiverge) {
  NEED_NVCC();
  std::string ptx = compile(nvcc, "kernels.cu", "--fmad=false");
  EXPECT_NE(ptx.find("call.uni"), std::string::npos);
  start("shuffled");
  int count = 500;
  std::vector<double> reals(count);
  for (int i = 0; i < count; ++i)
    reals[i] = i * 0.37;
  CUdeviceptr out = reserve(count * 4), realsAt = giveAll(reals);
  CUDA_OK(run(load(ptx.c_str(), "mixed"), {4}, {128}, out, realsAt, count));
  auto steps = takeAll<uint32_t>(out, count);
  auto results = takeAll<double>(realsAt, count);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(steps[i], expectedSteps(i)) << i;
    ASSERT_EQ(results[i], std::sqrt(reals[i]) / (reals[i] + 1) + std::floor(reals[i]));
  }
}

TEST_F(NvccKernels, MayNotApproximate) {
  NEED_NVCC();
  std::string ptx = compile(nvcc, "approximate.cu", "");
  start();
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, ptx.c_str()), CUDA_ERROR_INVALID_PTX);
  std::string text = repriseEmulatorLastError();
  EXPECT_NE(text.find("kernel exponential: line "), std::string::npos) << text;
  EXPECT_NE(text.find("unknown instruction 'ex2.approx"), std::string::npos) << text;
}

} // namespace
