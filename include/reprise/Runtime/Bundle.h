// reprise: the bundle with all that a run needs: manifest, command lists, constants, kernel image
//
// The compiler fills a Bundle and calls writeBundle; the runtime calls readBundle. The layout of
// the file is in lib/reprise/Runtime/BundleFile.cpp.
#ifndef REPRISE_RUNTIME_BUNDLE_H
#define REPRISE_RUNTIME_BUNDLE_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::runtime {

/// Version of bundle files. The runtime reads this version only: before release 1.0 a change of the
/// file raises the version, and models are compiled again.
constexpr uint32_t bundleVersion = 11;
/// Alignment in bytes of the start of every buffer, in its space and in memory.
constexpr uint64_t bufferAlignment = 64;

enum class DType : uint8_t { F32, F64, BF16, F16, I32, I64, I1 };
constexpr unsigned numDTypes = 7;
/// Returns the bytes of one element in memory; an i1 takes one byte, 0 or 1.
uint64_t elementBytes(DType dtype);
/// Returns the name of an element type: "f32", "bf16", …
const char *dtypeName(DType dtype);

/// Role of an argument. Seed, Offset and Step are scalar i64 arguments that the runtime fills
/// before each program.
enum class Role : uint8_t { Input, Parameter, State, Seed, Offset, Step };
constexpr unsigned numRoles = 6;
const char *roleName(Role role);

/// Space of a buffer: the step's packed arena, the buffer of one argument, the bundle's constants
/// (read only), or host memory that only offloads and fetches access.
enum class Space : uint8_t { Arena, Argument, Constant, Host };
constexpr unsigned numSpaces = 4;

struct BufferRef {
  Space space = Space::Arena;
  uint32_t index = 0;  ///< number of the argument for Space::Argument, else 0
  uint64_t offset = 0; ///< bytes from the start of the space
  uint64_t bytes = 0;  ///< size; offset + bytes lies within the space

  bool operator==(const BufferRef &other) const;
};

/// Rows of an array along a dimension: `first` and the next ones, as many as this dimension of the
/// shape. Devices share arrays so. The parts of an array follow each other in the bundle.
struct Rows {
  std::string whole; ///< the array's name; empty for an array in one piece
  int64_t first = 0;
  int64_t of = 0; ///< number of rows of the array
  int64_t dim = 0;

  bool operator==(const Rows &other) const;
};

struct Argument {
  std::string name; ///< unique within the bundle
  Role role = Role::Input;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  int64_t batchDim = -1;       ///< inputs: the batch dimension; -1 for none
  uint64_t bytes = 0;          ///< elements · elementBytes(dtype)
  bool hasInitializer = false; ///< init_parameters or init_inputs writes it
  Rows rows = {};

  bool operator==(const Argument &other) const;
};

/// Result of `step`. If `argument` ≥ 0, the result is the next value of that argument, and its
/// buffer is the whole argument. Other results are outputs, valid until the next program runs: at a
/// multiple of bufferAlignment in the arena or the constants, or in an argument. The next offset is
/// the result with the name of the argument of Role::Offset.
struct Result {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  BufferRef buffer; ///< its bytes are elements · elementBytes(dtype)
  int32_t argument = -1;
  uint32_t device = 0; ///< device whose step computes the result
  Rows rows = {};

  bool operator==(const Result &other) const;
};

/// Returns the name, the shape or the bytes of the array that an argument or a result is rows of.
template <typename T> const std::string &arrayName(const T &part) {
  return part.rows.of ? part.rows.whole : part.name;
}
template <typename T> std::vector<int64_t> arrayShape(const T &part) {
  std::vector<int64_t> shape = part.shape;
  if (part.rows.of)
    shape[size_t(part.rows.dim)] = part.rows.of;
  return shape;
}
/// Returns true for the first part of an array, or for a whole array.
template <typename T> bool beginsArray(const T &part) { return part.rows.first == 0; }
uint64_t arrayBytes(const Argument &argument);

/// Op in a kernel, for profiles.
struct SourceOp {
  std::string name;       ///< without its dialect
  std::string kind;       ///< kind, such as "contraction"
  std::string dtype;      ///< element type, such as "f32"
  uint64_t flops = 0;     ///< floating-point operations of one execution, at least 1
  uint64_t signature = 0; ///< hash that is equal for ops of one name, type and attributes

  bool operator==(const SourceOp &other) const;
};

/// Code for one target, which is never written to.
struct Image {
  std::string target = "cpu"; ///< target in the user's spelling, e.g. "cpu:x86-64-v4"
  /// Features of HostFeatures.h that a CPU must have, e.g. {"x86-64-v4"}.
  std::vector<std::string> features;
  std::vector<uint8_t> bytes; ///< position-independent text and its constants, or PTX

  bool operator==(const Image &other) const;
};

/// Entry and threads of a kernel on a chip, and on later chips up to the next one of the kernel.
struct ChipKernel {
  std::string chip, name; ///< such as sm_90, and the entry of the module for this chip
  uint32_t itemThreads = 0, blockThreads = 0;
  bool operator==(const ChipKernel &other) const;
};

/// Kernel. On a CPU: void kernel(void *const *buffers, int64_t begin, int64_t end, void
/// *workspace).
///
/// For a target `cuda:…` the image holds a PTX module per kernel, ended by a zero byte. The entry
/// of the module has the kernel's name and one parameter per buffer of the command: its address, a
/// multiple of bufferAlignment. For several chips there are several modules. With `:cubin` the
/// machine code of each chip follows at a multiple of 64 bytes, after 64 bytes that begin with its
/// size. A command launches ceil(items · itemThreads / blockThreads) blocks.
struct Kernel {
  std::string name;
  uint32_t image = 0;            ///< number of the image that holds it
  uint64_t imageOffset = 0;      ///< entry point or PTX module, bytes from the start of the image
  uint64_t workspaceBytes = 0;   ///< bytes of scratch per worker
  uint32_t itemThreads = 0;      ///< threads that share an item; 0 on a CPU
  uint32_t blockThreads = 0;     ///< threads of a block, a multiple of itemThreads; 0 on a CPU
  std::string launch;            ///< kernel that counts for the whole launch; mostly this kernel
  std::vector<SourceOp> ops;     ///< ops of the launch, if this kernel counts for the launch
  std::vector<ChipKernel> chips; ///< chips on which it differs, in the order of the target's

  bool operator==(const Kernel &other) const;
};

/// Access of a command to an operand; both bits for an update in place.
enum Access : uint8_t { Read = 1, Write = 2, ReadWrite = 3 };

struct Operand {
  BufferRef buffer;
  Access access = Read;
  /// Bytes that the buffer moves per iteration, for each repeat around the command, outermost
  /// first. Trailing zeros may be left out.
  std::vector<int64_t> strides = {};

  bool operator==(const Operand &other) const;
};

/// Check of `--check-indices`: before the command runs, the first `count` integers of operand
/// `operand` must lie in [0, limit).
struct IndexCheck {
  uint32_t operand = 0;
  DType dtype = DType::I64; ///< I32 or I64
  uint64_t count = 0;
  int64_t limit = 0;
  std::string name; ///< text for the message: op, place and argument

  bool operator==(const IndexCheck &other) const;
};

/// Kind of a command. Kernel: all workers together call the kernel on every item of [0, items), in
/// any order and grouping. Copy: operand 0, which is read, is copied to operand 1, which is
/// written; they do not overlap. Repeat: the next `body` commands run `items` times, in order; each
/// repeat among them counts as one command plus its body. Call: a function of a library of the
/// device. Send: operand 0, which is read, goes to another program. Receive: operand 0, which is
/// written, comes from another program. Record: the event happens when the stream has done all work
/// given so far. Wait: the stream continues when the event has happened. Offload: operand 0, on the
/// device, is copied to operand 1 in Space::Host. Fetch: operand 0 in Space::Host is copied to
/// operand 1, on the device.
enum class CommandKind : uint8_t {
  Kernel,
  Copy,
  Repeat,
  Call,
  Send,
  Receive,
  Record,
  Wait,
  Offload,
  Fetch
};
constexpr unsigned numCommandKinds = 10;
/// Returns true for the kinds that have a stream: library calls and all kinds after them.
inline bool isExplicit(CommandKind kind) { return kind >= CommandKind::Call; }
inline bool isTransfer(CommandKind kind) {
  return kind == CommandKind::Send || kind == CommandKind::Receive;
}
/// Returns true for commands that copy a value to or from host memory.
inline bool isHostMove(CommandKind kind) {
  return kind == CommandKind::Offload || kind == CommandKind::Fetch;
}
/// Returns true for commands that begin in their place on their stream and end when their event has
/// happened.
inline bool runsBeside(CommandKind kind) { return isTransfer(kind) || isHostMove(kind); }
/// Returns the name of a kind: "library call", "send", …
const char *commandName(CommandKind kind);
struct Command;
/// Returns the function of a library call and its numbers. The algorithm of the call depends on
/// nothing more.
std::string callKey(const Command &command);

constexpr uint32_t maxStreams = 16;
constexpr uint32_t maxEvents = 1 << 16;
/// Largest tag of transfers, which every transport supports.
constexpr uint32_t maxTag = 32767;

/// Command of a program. A command ends before the next command of its stream starts. Kernels and
/// copies belong to stream 0. A transfer, to another program or to the host, begins in its place on
/// its stream, and ends with its event. Until then no other command may write its operand, or read
/// the received value.
struct Command {
  CommandKind kind = CommandKind::Kernel;
  uint32_t kernel = 0;           ///< kernel commands: number of the kernel
  int64_t items = 0;             ///< kernel commands: work items; repeats: iterations
  uint32_t body = 0;             ///< repeats: number of commands in the body
  std::vector<Operand> operands; ///< inputs, outputs, scratch: the order of the kernel's buffers
  std::vector<IndexCheck> indexChecks;
  std::string label;  ///< source op and location, for traces
  uint64_t flops = 0; ///< floating-point operations of one execution
  uint64_t bytes = 0; ///< bytes moved to and from memory by one execution

  // Fields of the explicit kinds.
  uint32_t stream = 0;
  /// Event that transfers, host moves and records signal and waits await.
  uint32_t event = 0;
  uint32_t tag = 0;     ///< transfers: sends and receives of one tag meet in order
  std::string peer;     ///< transfers: device name of the other program
  std::string function; ///< calls: name in the library
  /// Calls: numbers beside the buffers (Support/LibraryCall.h).
  std::vector<int64_t> numbers;

  bool operator==(const Command &other) const;
};

/// Program of a device: "step", "init_parameters", which writes parameters and state that have an
/// initializer, from the seed, or "init_inputs", which writes inputs from seed and step.
///
/// Each of several devices has these programs and its own memory: an arena, and a buffer for each
/// of its arguments. An argument that a result replaces belongs to one device only. The random
/// offset is an exception: each step may return its next value, and the largest value counts.
struct Program {
  std::string name;
  std::vector<Command> commands;
  uint64_t arenaBytes = 0; ///< max(offset + bytes) over its arena buffers, never rounded
  uint32_t device = 0;
  uint64_t hostBytes = 0; ///< bytes in Space::Host, like arenaBytes
  /// Number of commands before the pause, those of repeats included; -1 without a pause. On request
  /// a step stops there, so that its caller can compute late inputs from early results.
  int64_t pause = -1;

  /// Returns the number of executed commands; commands of repeats count in every iteration. The
  /// limit for a bundle is 2^24, or 2^20 with commands of the explicit kinds.
  uint64_t executions() const;
  /// Returns the executions before the pause; all executions without a pause.
  uint64_t executionsToPause() const;
  bool hasExplicit() const;

  bool operator==(const Program &other) const;
};

/// Pair of a replayed value and its original, kept to the end of the step by `--verify-replays` and
/// compared bit for bit (NaNs canonical).
struct ReplayCheck {
  std::string name; ///< replay, for the message: number, op, id and place
  DType dtype = DType::F32;
  BufferRef original, replayed; ///< buffers of equal size
  uint32_t device = 0;          ///< device whose step computes both

  bool operator==(const ReplayCheck &other) const;
};

/// Entry of one of several devices.
struct DeviceEntry {
  std::string name; ///< name of its program: transfers use these names
  /// Numbers of the arguments with a buffer on the device, ascending. Commands and results of the
  /// device use no other arguments.
  std::vector<uint32_t> arguments;

  bool operator==(const DeviceEntry &other) const;
};

struct Bundle {
  std::string producer;               ///< the compiler and its version, for messages
  std::string contractions = "exact"; ///< arithmetic of the kernels that run on a GPU
  std::string entry = "train";
  /// Entries by device number; empty for a single device, which has all arguments.
  std::vector<DeviceEntry> devices;
  uint32_t threads = 1;   ///< number of workers that the compiler assumed
  bool hasBudget = false; ///< if true, more workers than `threads` are an error
  uint64_t budgetBytes = 0;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<ReplayCheck> replayChecks;
  std::vector<Kernel> kernels;
  std::vector<Program> programs;     ///< programs; each device needs a "step"
  uint64_t workerWorkspaceBytes = 0; ///< bytes per worker, at least those of every kernel
  std::vector<uint8_t> constants;
  std::vector<Image> images; ///< images, one per target, at least one
  uint64_t checksum = 0;     ///< checksum of the file that was read; not compared

  uint32_t countDevices() const;
  /// Returns the name of a device: "train" if there is only one.
  const std::string &deviceName(uint32_t device) const;
  std::vector<std::string> deviceNames() const;
  /// Returns the program with the name, or nullptr.
  const Program *program(const std::string &name, uint32_t device = 0) const;
  /// Returns whether the step stops on request.
  bool pauses() const;
  /// Returns true for an input, or a state without an initializer, that no command before the pause
  /// accesses. Its value may be given during the pause.
  bool isLate(uint32_t argument) const;
  /// Returns the name of the next offset, or an empty text.
  std::string offsetName() const;
  /// Returns true for an argument that a command after the pause accesses.
  bool isUsedBehindPause(uint32_t argument) const;
  /// Returns true for a result that is complete at the pause.
  bool isEarly(const Result &result) const;
  /// Returns the arena bytes of the step of a device: arena_bytes in reports.
  uint64_t arenaBytes(uint32_t device = 0) const;
  /// Returns the bytes of all arguments: persistent_bytes in reports.
  uint64_t persistentBytes() const;
  /// Returns workers · workerWorkspaceBytes: workspace_bytes in reports.
  uint64_t workspaceBytes(uint32_t workers) const;

  bool operator==(const Bundle &other) const;
};

/// Returns the first defect: a buffer outside its space, a kernel outside the image, a size that
/// does not follow from type and shape, a name used twice, programs that wait for each other for
/// ever, … Both readers and writers call it.
Error validateBundle(const Bundle &bundle);

/// Extracts the bundle of one of several devices with the arguments, kernels and constants it uses.
Bundle selectDevice(const Bundle &bundle, uint32_t device);

/// Calls visit(command number, iterations of the repeats around the command, outermost first) in
/// order for every execution of every command except repeats.
template <typename Visit> void forEachExecution(const Program &program, Visit visit) {
  struct Open {
    size_t begin, end; // range of the body
  };
  std::vector<Open> open;
  std::vector<int64_t> iterations;
  for (size_t i = 0;;) {
    while (!open.empty() && i == open.back().end) {
      if (++iterations.back() < program.commands[open.back().begin - 1].items) {
        i = open.back().begin;
        break;
      }
      open.pop_back();
      iterations.pop_back();
    }
    if (i == program.commands.size())
      return;
    const Command &command = program.commands[i++];
    if (command.kind != CommandKind::Repeat) {
      visit(uint32_t(i - 1), iterations);
    } else {
      open.push_back({i, i + command.body});
      iterations.push_back(0);
    }
  }
}

/// Returns the position of an operand in an iteration, in bytes from the start of its space.
uint64_t offsetIn(const Operand &operand, const std::vector<int64_t> &iterations);

/// Returns the bytes of the file; fails on a defect.
Expected<std::vector<uint8_t>> serializeBundle(const Bundle &bundle);
/// Reads a bundle from memory, and never outside of `data`. `name` is the file name in messages.
Expected<Bundle> deserializeBundle(const uint8_t *data, uint64_t size, const std::string &name);

/// Updates checksum and file size of edited bytes, so that tests reach the later checks. Leaves
/// fewer bytes than a header unchanged.
void stampBundle(std::vector<uint8_t> &bytes);

/// Writes a temporary file and renames it to `path`. On failure no file is left.
Error writeBundle(const Bundle &bundle, const std::string &path);
Expected<Bundle> readBundle(const std::string &path);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_BUNDLE_H
