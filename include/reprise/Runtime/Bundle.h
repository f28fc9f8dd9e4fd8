// reprise: the bundle, all that a run needs: manifest, command lists, constants, kernel image
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

/// A file has the oldest version that can say what it holds; a bundle of another one is refused.
/// Version 5 adds the commands from Call to Wait, version 6 programs of several devices, version 7
/// a table of what commands have in common, version 8 arrays whose rows lie on several devices,
/// version 9 values that wait in the memory of the host, version 10 numbers of library calls,
/// version 11 steps that pause.
constexpr uint32_t bundleVersion = 11, pauseBundleVersion = 11, callsBundleVersion = 10,
                   hostBundleVersion = 9, rowsBundleVersion = 8, tableBundleVersion = 7,
                   devicesBundleVersion = 6, commandsBundleVersion = 5, oldestBundleVersion = 4;
/// Every buffer starts at a multiple of this many bytes, in its space and in memory.
constexpr uint64_t bufferAlignment = 64;

enum class DType : uint8_t { F32, F64, BF16, F16, I32, I64, I1 };
constexpr unsigned numDTypes = 7;
/// Bytes of one element in memory; an i1 takes one byte, 0 or 1.
uint64_t elementBytes(DType dtype);
/// "f32", "bf16", …
const char *dtypeName(DType dtype);

/// Seed, Offset and Step are scalar i64 arguments that the runtime fills before each program.
enum class Role : uint8_t { Input, Parameter, State, Seed, Offset, Step };
constexpr unsigned numRoles = 6;
const char *roleName(Role role);

/// Where a buffer lies. Arena: the step's packed arena. Argument: the buffer of one argument.
/// Constant: the bundle's constants (read only). Host: what the step keeps in the memory of the
/// host, where offloads and fetches alone may look.
enum class Space : uint8_t { Arena, Argument, Constant, Host };
constexpr unsigned numSpaces = 4;
/// Those that a file of versions before 9 can hold.
constexpr unsigned numDeviceSpaces = 3;

struct BufferRef {
  Space space = Space::Arena;
  uint32_t index = 0;  ///< number of the argument for Space::Argument, else 0
  uint64_t offset = 0; ///< bytes from the start of the space
  uint64_t bytes = 0;  ///< size; offset + bytes lies within the space

  bool operator==(const BufferRef &other) const;
};

/// Which rows of an array an argument or a result is: `first` and those behind it, as many as its
/// shape's first dimension says. Devices share an array out by rows. Its parts follow each other in
/// the bundle, and users see the array alone.
struct Rows {
  std::string whole; ///< the array's name; empty for an array in one piece
  int64_t first = 0;
  int64_t of = 0; ///< how many rows the array has

  bool operator==(const Rows &other) const;
};

struct Argument {
  std::string name; ///< unique within the bundle
  Role role = Role::Input;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  int64_t batchDim = -1;       ///< inputs: the batch dimension, -1 without one
  uint64_t bytes = 0;          ///< elements · elementBytes(dtype)
  bool hasInitializer = false; ///< init_parameters or init_inputs writes it
  Rows rows;

  bool operator==(const Argument &other) const;
};

/// A result of `step`. One with `argument` ≥ 0 is that argument's next value: its buffer is the
/// whole of that argument, which commands have written. All others are outputs and stay where they
/// are until the next program runs: at a multiple of bufferAlignment in the arena or the constants,
/// or in an argument. The next offset is the result named as the argument of Role::Offset.
struct Result {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  BufferRef buffer; ///< its bytes are elements · elementBytes(dtype)
  int32_t argument = -1;
  uint32_t device = 0; ///< whose step makes it
  Rows rows;

  bool operator==(const Result &other) const;
};

/// Of an argument or a result: the name and the shape of the array that it is, or is rows of, and
/// where it begins there.
template <typename T> const std::string &arrayName(const T &part) {
  return part.rows.of ? part.rows.whole : part.name;
}
template <typename T> std::vector<int64_t> arrayShape(const T &part) {
  std::vector<int64_t> shape = part.shape;
  if (part.rows.of)
    shape[0] = part.rows.of;
  return shape;
}
/// True for the first part of an array, and for one in one piece.
template <typename T> bool beginsArray(const T &part) { return part.rows.first == 0; }
/// In bytes.
uint64_t arrayBytes(const Argument &argument);
uint64_t offsetInArray(const Argument &argument);

/// An op that a kernel holds, for profiles.
struct SourceOp {
  std::string name;       ///< without its dialect
  std::string kind;       ///< such as "contraction"
  std::string dtype;      ///< such as "f32"
  uint64_t flops = 0;     ///< of one execution, more than 0
  uint64_t signature = 0; ///< equal for ops of one name, type and attributes

  bool operator==(const SourceOp &other) const;
};

/// The code for one target; nothing in it is written to.
struct Image {
  std::string target = "cpu"; ///< as the user would write it, e.g. "cpu:x86-64-v4"
  /// Names of what a machine must have, for a CPU of HostFeatures.h, e.g. {"x86-64-v4"}.
  std::vector<std::string> features;
  std::vector<uint8_t> bytes; ///< position-independent text and its constants, or PTX

  bool operator==(const Image &other) const;
};

/// On a CPU: void kernel(void *const *buffers, int64_t begin, int64_t end, void *workspace).
///
/// For a target `cuda:…` the image holds a PTX module per kernel, ended by a zero byte, whose entry
/// has the kernel's name and one parameter per buffer of the command: its address, a multiple of
/// bufferAlignment. Of several chips there are several, and with `:cubin` machine code of each
/// stands behind them, at a multiple of 64 bytes, behind 64 bytes that begin with its size. A
/// command is a launch of ceil(items · itemThreads / blockThreads) blocks.
struct Kernel {
  std::string name;
  uint32_t image = 0;          ///< number of the image that holds it
  uint64_t imageOffset = 0;    ///< entry point or PTX module, bytes from the start of the image
  uint64_t workspaceBytes = 0; ///< scratch per worker
  uint32_t itemThreads = 0;    ///< threads that share an item; 0 on a CPU
  uint32_t blockThreads = 0;   ///< threads of a block, a multiple of itemThreads; 0 on a CPU
  std::string launch;          ///< the kernel that counts for all of its launch; mostly this one
  std::vector<SourceOp> ops;   ///< of the launch, if this kernel counts for it

  bool operator==(const Kernel &other) const;
};

/// How a command uses an operand; both bits for an update in place.
enum Access : uint8_t { Read = 1, Write = 2, ReadWrite = 3 };

struct Operand {
  BufferRef buffer;
  Access access = Read;
  /// Bytes that the buffer moves on per iteration, for each repeat around the command, the
  /// outermost first; the last ones may be left out where they are 0.
  std::vector<int64_t> strides = {};

  bool operator==(const Operand &other) const;
};

/// `--check-indices`: before the command runs, the first `count` integers of operand `operand` must
/// lie in [0, limit).
struct IndexCheck {
  uint32_t operand = 0;
  DType dtype = DType::I64; ///< I32 or I64
  uint64_t count = 0;
  int64_t limit = 0;
  std::string name; ///< for the message: op, where it stands, and argument

  bool operator==(const IndexCheck &other) const;
};

/// Kernel: all workers together call the kernel on every item of [0, items), in any order and
/// grouping. Copy: operand 0, which is read, becomes operand 1, which is written; they do not
/// overlap. Repeat: the `body` commands behind this one run `items` times, in order; other repeats
/// among them count as they stand. Call: a function of a library that the device has. Send: operand
/// 0, which is read, goes to another program. Receive: operand 0, which is written, comes from
/// there. Record: the event happens when the stream has done what it was given so far. Wait: the
/// stream goes on when the event has happened. Offload: operand 0, on the device, becomes operand 1
/// in Space::Host. Fetch: operand 0 in Space::Host becomes operand 1, on the device.
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
/// Those that a file of version 4, and of versions before 9, can hold.
constexpr unsigned numOldCommandKinds = 3, numDeviceCommandKinds = 8;
/// True for the kinds of version 5 on.
inline bool isExplicit(CommandKind kind) { return unsigned(kind) >= numOldCommandKinds; }
inline bool isTransfer(CommandKind kind) {
  return kind == CommandKind::Send || kind == CommandKind::Receive;
}
/// True for what brings a value to the memory of the host, and back.
inline bool isHostMove(CommandKind kind) {
  return kind == CommandKind::Offload || kind == CommandKind::Fetch;
}
/// True for what begins in its place on its stream and has ended when its event has happened.
inline bool runsBeside(CommandKind kind) { return isTransfer(kind) || isHostMove(kind); }
/// "library call", "send", …
const char *commandName(CommandKind kind);
struct Command;
/// The function of a library call and its numbers, which are all that its algorithm depends on.
std::string callKey(const Command &command);

constexpr uint32_t maxStreams = 16;
constexpr uint32_t maxEvents = 1 << 16;
/// Of transfers: what every transport can tell apart.
constexpr uint32_t maxTag = 32767;

/// A command ends before the next one of its stream starts. Kernels and copies are of stream 0. A
/// transfer, to another program or to the host, begins in its place on its stream, and is done when
/// its event has happened: until then nobody else may write its operand, or read what it receives.
struct Command {
  CommandKind kind = CommandKind::Kernel;
  uint32_t kernel = 0;           ///< of a kernel command
  int64_t items = 0;             ///< of a kernel command; of a repeat, how often
  uint32_t body = 0;             ///< of a repeat, how many commands
  std::vector<Operand> operands; ///< inputs, outputs, scratch: the order of the kernel's buffers
  std::vector<IndexCheck> indexChecks;
  std::string label;  ///< source op and location, for traces
  uint64_t flops = 0; ///< floating-point operations of one execution
  uint64_t bytes = 0; ///< bytes that it moves to and from memory

  // Of the explicit kinds.
  uint32_t stream = 0;
  uint32_t event = 0;   ///< of what runs beside and of a record, which give it, and of a wait
  uint32_t tag = 0;     ///< of a transfer; sends and receives of one tag meet in order
  std::string peer;     ///< of a transfer: the other program, by its device's name
  std::string function; ///< of a call: as the library calls it
  /// Of a call: what it needs beside buffers (Support/LibraryCall.h).
  std::vector<int64_t> numbers;

  bool operator==(const Command &other) const;
};

/// "step"; "init_parameters" writes parameters and state that have an initializer, from seed;
/// "init_inputs" writes the inputs that have one, from seed and step. The last two may be absent.
///
/// With several devices each has these programs, and memory of its own: an arena, and a buffer for
/// each of its arguments. What a result replaces is an argument of one device only. The random
/// offset is an exception: each step may return its next value, and the largest one counts.
struct Program {
  std::string name;
  std::vector<Command> commands;
  uint64_t arenaBytes = 0; ///< max(offset + bytes) over its arena buffers, never rounded
  uint32_t device = 0;
  uint64_t hostBytes = 0; ///< like arenaBytes, of what lies in Space::Host
  /// Where a step stops if it is asked to, for inputs that its caller makes of its first results:
  /// how many commands stand before, with those of repeats; -1 for a program that has no pause.
  /// What the arena holds stays meanwhile.
  int64_t pause = -1;

  /// How many commands run, those of repeats in every iteration. The most in a bundle is 2^24, or
  /// 2^20 with commands of the explicit kinds.
  uint64_t executions() const;
  /// How many of them come before the pause; all without one.
  uint64_t executionsToPause() const;
  bool hasExplicit() const;

  bool operator==(const Program &other) const;
};

/// A bundle built with `--verify-replays` keeps every replayed value beside its original to the end
/// of the step, where the two are compared bit for bit (NaNs canonical).
struct ReplayCheck {
  std::string name; ///< the replay, for the message: number, op, id and place
  DType dtype = DType::F32;
  BufferRef original, replayed; ///< of equal size
  uint32_t device = 0;          ///< whose step makes them

  bool operator==(const ReplayCheck &other) const;
};

/// One of several devices.
struct DeviceEntry {
  std::string name; ///< of its program: transfers are between these names
  /// Numbers of the arguments that it has a buffer for, in ascending order. Its commands and
  /// results name no others.
  std::vector<uint32_t> arguments;

  bool operator==(const DeviceEntry &other) const;
};

struct Bundle {
  std::string producer; ///< the compiler and its version, for messages
  std::string contractions =
      "exact"; ///< of GPUs also "tensor-cores" (16-bit types), "tf32", "library"
  std::string entry = "train";
  /// By number, if there are several. One alone has the entry's name, and all arguments.
  std::vector<DeviceEntry> devices;
  uint32_t threads = 1;   ///< the workers that the compiler reckoned with
  bool hasBudget = false; ///< more workers than `threads` are then an error
  uint64_t budgetBytes = 0;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<ReplayCheck> replayChecks;
  std::vector<Kernel> kernels;
  std::vector<Program> programs;     ///< each device needs a "step"
  uint64_t workerWorkspaceBytes = 0; ///< per worker, at least that of every kernel
  std::vector<uint8_t> constants;
  std::vector<Image> images; ///< one per target, at least one
  uint64_t checksum = 0;     ///< of the file that it was read from; no part of a comparison

  uint32_t countDevices() const;
  /// "train", or the name of one of several.
  const std::string &deviceName(uint32_t device) const;
  std::vector<std::string> deviceNames() const;
  /// The program of that name, or nullptr.
  const Program *program(const std::string &name, uint32_t device = 0) const;
  /// Whether the step stops on request.
  bool pauses() const;
  /// True for an input, or a state without an initializer, that no command before the pause
  /// touches, so that it may come late.
  bool isLate(uint32_t argument) const;
  /// True for an argument that a command behind the pause touches.
  bool isUsedBehindPause(uint32_t argument) const;
  /// True for a result that is there at the pause.
  bool isEarly(const Result &result) const;
  /// Arena of the step of a device: what a report calls arena_bytes.
  uint64_t arenaBytes(uint32_t device = 0) const;
  /// Bytes of all arguments: what a report calls persistent_bytes.
  uint64_t persistentBytes() const;
  /// Workers · per-worker part: what a report calls workspace_bytes.
  uint64_t workspaceBytes(uint32_t workers) const;

  bool operator==(const Bundle &other) const;
};

/// The first defect found: a buffer outside its space, a kernel outside the image, a size that does
/// not follow from type and shape, a name used twice, programs that wait for each other for ever, …
/// Both directions call it.
Error validateBundle(const Bundle &bundle);

/// The bundle of one device alone, out of one of several: its programs, results, arguments, kernels
/// and image, and the constants that it reads.
Bundle selectDevice(const Bundle &bundle, uint32_t device);

/// Calls visit(number of the command, iterations of the repeats around it, the outermost first) for
/// every execution of every command but repeats, in order.
template <typename Visit> void forEachExecution(const Program &program, Visit visit) {
  struct Open {
    size_t begin, end; // of the body
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

/// The bytes from the start of its space at which an operand lies in an iteration.
uint64_t offsetIn(const Operand &operand, const std::vector<int64_t> &iterations);

/// The bytes of the file; fails on a defect.
Expected<std::vector<uint8_t>> serializeBundle(const Bundle &bundle);
/// `name` is the file that messages speak of. Never reads outside of `data`, whatever it holds.
Expected<Bundle> deserializeBundle(const uint8_t *data, uint64_t size, const std::string &name);

/// Sets the checksum (and file size) of edited bytes right again, so that tests reach the checks
/// behind it. Does nothing to fewer bytes than a header.
void stampBundle(std::vector<uint8_t> &bytes);

/// Writes beside `path` and renames; nothing is left behind on failure.
Error writeBundle(const Bundle &bundle, const std::string &path);
Expected<Bundle> readBundle(const std::string &path);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_BUNDLE_H
