// reprise: a small training bundle made by hand, for the runtime's tests
#include "TestBundle.h"
#include "reprise/Runtime/ProgramGroup.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

// The kernels: rdi = buffers, rsi = begin, rdx = end, rcx = workspace. They lie among the read-only
// data of this program and run only as a copy in the image.
asm(R"(
  .pushsection .rodata
  .balign 16
  .globl repriseTestImage, repriseTestImageEnd
  .globl repriseTestAdd, repriseTestHalf, repriseTestFill, repriseTestAdvance
  .globl repriseTestScratch, repriseTestGather, repriseTestIncrement, repriseTestControl
repriseTestImage:
  .zero 16
repriseTestAdd:
  movq (%rdi), %r8
  movq 8(%rdi), %r9
  movq 16(%rdi), %r10
1: movss (%r8,%rsi,4), %xmm0
  addss (%r9,%rsi,4), %xmm0
  movss %xmm0, (%r10,%rsi,4)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestHalf:
  movq (%rdi), %r8
  movq 8(%rdi), %r9
1: movss (%r8,%rsi,4), %xmm0
  mulss half(%rip), %xmm0
  movss %xmm0, (%r9,%rsi,4)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestFill:
  movq (%rdi), %r8
  imulq $100, (%r8), %r8
  movq 8(%rdi), %r9
1: leaq (%r8,%rsi), %rax
  cvtsi2ssq %rax, %xmm0
  movss %xmm0, (%r9,%rsi,4)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestAdvance:
  movq (%rdi), %r8
  movq 8(%rdi), %r9
1: movq (%r8,%rsi,8), %rax
  addq $8, %rax
  movq %rax, (%r9,%rsi,8)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestScratch:
  movq (%rdi), %r9
1: movq %rsi, (%rcx)
  pause
  movq (%rcx), %rax
  movq %rax, (%r9,%rsi,8)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestGather:
  movq (%rdi), %r8
  movq 8(%rdi), %r9
  movq 16(%rdi), %r10
1: movq (%r9,%rsi,8), %rax
  movss (%r8,%rax,4), %xmm0
  movss %xmm0, (%r10,%rsi,4)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestIncrement:
  movq (%rdi), %r8
1: incq (%r8,%rsi,8)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
repriseTestControl:
  movq (%rdi), %r8
1: stmxcsr (%rcx)
  movl (%rcx), %eax
  movq %rax, (%r8,%rsi,8)
  incq %rsi
  cmpq %rdx, %rsi
  jl 1b
  ret
  .balign 16
half:
  .long 0x3f000000
repriseTestImageEnd:
  .popsection
)");

extern "C" {
extern const uint8_t repriseTestImage[], repriseTestImageEnd[], repriseTestAdd[], repriseTestHalf[],
    repriseTestFill[], repriseTestAdvance[], repriseTestScratch[], repriseTestGather[],
    repriseTestIncrement[], repriseTestControl[];
}

Bundle test::emptyBundle() {
  Bundle bundle;
  bundle.producer = "test";
  bundle.images = {{"cpu", {}, {repriseTestImage, repriseTestImageEnd}}};
  const std::pair<const char *, const uint8_t *> kernels[numTestKernels] = {
      {"add", repriseTestAdd},
      {"half", repriseTestHalf},
      {"fill", repriseTestFill},
      {"advance", repriseTestAdvance},
      {"scratch", repriseTestScratch},
      {"gather", repriseTestGather},
      {"increment", repriseTestIncrement},
      {"control", repriseTestControl}};
  bundle.workerWorkspaceBytes = 64;
  for (auto [name, entry] : kernels)
    bundle.kernels.push_back({name,
                              0,
                              uint64_t(entry - repriseTestImage),
                              64,
                              0,
                              0,
                              name,
                              {{name, "elementwise", "f32", 4, 0x0123456789abcdef}},
                              {}});
  bundle.programs = {{"step", {}, 0}};
  return bundle;
}

BufferRef test::arena(uint64_t offset, uint64_t bytes) { return {Space::Arena, 0, offset, bytes}; }
BufferRef test::argument(uint32_t index, uint64_t bytes) {
  return {Space::Argument, index, 0, bytes};
}
Command test::command(TestKernel kernel, int64_t items, std::vector<BufferRef> reads,
                      std::vector<BufferRef> writes) {
  Command command;
  command.kernel = kernel;
  command.items = items;
  for (const BufferRef &buffer : reads)
    command.operands.push_back({buffer, Read});
  for (const BufferRef &buffer : writes)
    command.operands.push_back({buffer, Write});
  return command;
}

Command test::copy(BufferRef from, BufferRef to) {
  Command command;
  command.kind = CommandKind::Copy;
  command.operands = {{from, Read}, {to, Write}};
  return command;
}

Command test::repeat(int64_t times, uint32_t body) {
  Command command;
  command.kind = CommandKind::Repeat;
  command.items = times;
  command.body = body;
  return command;
}

static Command transfer(CommandKind kind, Operand operand, const std::string &peer, uint32_t tag,
                        uint32_t event) {
  Command command;
  command.kind = kind;
  command.operands = {operand};
  command.peer = peer;
  command.tag = tag;
  command.event = event;
  return command;
}
Command test::send(BufferRef from, const std::string &peer, uint32_t tag, uint32_t event) {
  return transfer(CommandKind::Send, {from, Read}, peer, tag, event);
}
Command test::receive(BufferRef into, const std::string &peer, uint32_t tag, uint32_t event) {
  return transfer(CommandKind::Receive, {into, Write}, peer, tag, event);
}
static Command ofEvent(CommandKind kind, uint32_t event, uint32_t stream) {
  Command command;
  command.kind = kind;
  command.event = event;
  command.stream = stream;
  return command;
}
Command test::record(uint32_t event, uint32_t stream) {
  return ofEvent(CommandKind::Record, event, stream);
}
Command test::waitFor(uint32_t event, uint32_t stream) {
  return ofEvent(CommandKind::Wait, event, stream);
}
Command test::callDouble(BufferRef from, BufferRef to, BufferRef workspace, uint32_t stream) {
  Command command;
  command.kind = CommandKind::Call;
  command.function = "fakeDouble";
  command.stream = stream;
  command.operands = {{from, Read}, {to, Write}, {workspace, ReadWrite}};
  return command;
}

Bundle test::trainingBundle(int64_t n) {
  Bundle bundle = emptyBundle();
  uint64_t bytes = 4 * uint64_t(n), padded = (bytes + 63) / 64 * 64;
  bundle.threads = 2;
  bundle.arguments = {{"w", Role::Parameter, DType::F32, {n}, -1, bytes, true},
                      {"x", Role::Input, DType::F32, {n}, 0, bytes, true},
                      {"seed", Role::Seed, DType::I64, {}, -1, 8, false},
                      {"offset", Role::Offset, DType::I64, {}, -1, 8, false},
                      {"step", Role::Step, DType::I64, {}, -1, 8, false}};
  BufferRef sum = arena(0, bytes), loss = arena(padded, 4), next = arena(padded + 64, 8);
  BufferRef w = argument(0, bytes), x = argument(1, bytes);
  Program step{"step", {}, padded + 72};
  step.commands = {command(Add, n, {w, x}, {sum}), command(Half, n, {sum}, {w}),
                   command(Half, 1, {argument(0, bytes)}, {loss}),
                   command(Advance, 1, {argument(3, 8)}, {next}), copy(next, argument(3, 8))};
  step.commands[0].label = "layer/0/add";
  step.commands[0].flops = uint64_t(n);
  step.commands[0].bytes = 3 * bytes;
  bundle.programs = {step,
                     {"init_parameters", {command(Fill, n, {argument(2, 8)}, {w})}, 0},
                     {"init_inputs", {command(Fill, n, {argument(4, 8)}, {x})}, 0}};
  bundle.results = {{"loss", DType::F32, {}, loss, -1},
                    {"w", DType::F32, {n}, w, 0},
                    {"sum", DType::F32, {n}, sum, -1},
                    {"offset", DType::I64, {}, argument(3, 8), 3}};
  bundle.constants = {1, 2, 3, 4};
  return bundle;
}

namespace {
/// Halves rows, the last argument so far, on a device.
void addRows(Bundle &bundle, const std::string &name, int64_t rows, int64_t n, Rows part,
             uint32_t device) {
  auto number = uint32_t(bundle.arguments.size());
  uint64_t bytes = 4 * uint64_t(rows * n);
  BufferRef w = argument(number, bytes), half = arena(0, bytes);
  bundle.arguments.push_back(
      {name, Role::Parameter, DType::F32, {rows, n}, -1, bytes, false, part});
  Program step{"step", {}, bytes, device};
  step.commands = {command(Half, rows * n, {w}, {half}), copy(half, w)};
  bundle.programs.push_back(step);
  bundle.results.push_back({name, DType::F32, {rows, n}, w, int32_t(number), device, part});
}
} // namespace

Bundle test::stackBundle(int64_t n) {
  Bundle bundle = emptyBundle();
  bundle.programs.clear();
  addRows(bundle, "w", 3, n, {}, 0);
  return bundle;
}

Bundle test::sharedStackBundle(int64_t n) {
  Bundle bundle = emptyBundle();
  bundle.programs.clear();
  bundle.devices = {{"first", {0}}, {"second", {1}}};
  addRows(bundle, "w[0]", 1, n, {"w", 0, 3}, 0);
  addRows(bundle, "w[1]", 2, n, {"w", 1, 3}, 1);
  return bundle;
}

Bundle test::twoDeviceBundle(int64_t n) {
  const uint64_t bytes = 4 * uint64_t(n);
  Bundle bundle = trainingBundle(n);
  bundle.devices = {{"first", {0, 1, 2, 3, 4}}, {"second", {3}}};
  Program &step = bundle.programs[0];
  BufferRef sum = arena(0, bytes), w = argument(0, bytes);
  step.commands[1] = send(sum, "second", 1, 0);
  step.commands.insert(step.commands.begin() + 2,
                       {receive(w, "second", 2, 7), waitFor(0), waitFor(7)});
  Program second;
  second.name = "step";
  second.device = 1;
  BufferRef in = arena(0, bytes), out = arena(512, bytes);
  second.arenaBytes = 512 + bytes;
  second.commands = {receive(in, "first", 1, 0), waitFor(0), command(Half, n, {in}, {out}),
                     send(out, "first", 2, 0), waitFor(0)};
  bundle.programs.push_back(second);
  return bundle;
}

Bundle test::tooLargeBundle(int64_t n) {
  Bundle bundle = twoDeviceBundle(n);
  auto group = ProgramGroup::create(bundle, "m.rpb", 1);
  EXPECT_TRUE(bool(group)) << group.message();
  uint64_t available = group ? (*group)->executable(0).device().availableMemory() : 0;
  for (Program &program : bundle.programs)
    if (program.name == "step")
      program.arenaBytes = available / 3 * 2;
  return bundle;
}

TemporaryFolder::TemporaryFolder() {
  char name[] = "/tmp/reprise-runtime-XXXXXX";
  if (!mkdtemp(name))
    std::abort();
  path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::vector<std::string> TemporaryFolder::entries() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string test::contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}
