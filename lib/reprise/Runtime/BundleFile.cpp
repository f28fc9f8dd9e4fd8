// reprise: the bundle as bytes
//
// The file is little endian: a header of 64 bytes, the manifest, the constants, and the images. Its
// checksum covers every other byte of the file. Enumerators are bytes; a count precedes each
// sequence; there is no padding.
#include "BundleStream.h"
#include "CommandTable.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/FileKind.h"
#include "reprise/Runtime/Hash.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstring>

using namespace reprise::runtime;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is the memory of x86-64");

namespace {

constexpr char magic[8] = {'R', 'e', 'p', 'r', 'i', 's', 'e', '\x1a'};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;
  uint64_t checksum; // checksum of the file with these eight bytes as zero
  uint64_t fileBytes;
  uint64_t manifestBytes;
  uint64_t constantBytes;
  uint64_t imageBytes;
  uint64_t reserved; // zero
};
static_assert(sizeof(Header) == 64);

// The fields of each structure, in their order in the file. `S` is Writer or Reader, the structure
// is const for a Writer.

template <typename S, typename T> void shape(S &s, T &dims) {
  s.sequence(dims, 8, [&](auto &dim) { s.number(dim); });
}

template <typename S, typename T> void bufferFields(S &s, T &b) {
  s.enumerator(b.space, numSpaces);
  s.number(b.index);
  s.number(b.offset);
  s.number(b.bytes);
}

template <typename S, typename T> void rowsFields(S &s, T &owner) {
  s.text(owner.rows.whole);
  s.number(owner.rows.first);
  s.number(owner.rows.of);
  s.number(owner.rows.dim);
}

template <typename S, typename T> void argumentFields(S &s, T &a) {
  s.text(a.name);
  s.enumerator(a.role, numRoles);
  s.enumerator(a.dtype, numDTypes);
  shape(s, a.shape);
  s.number(a.batchDim);
  s.number(a.bytes);
  s.flag(a.hasInitializer);
  rowsFields(s, a);
}

template <typename S, typename T> void resultFields(S &s, T &r) {
  s.text(r.name);
  s.enumerator(r.dtype, numDTypes);
  shape(s, r.shape);
  bufferFields(s, r.buffer);
  s.number(r.argument);
  s.number(r.device);
  rowsFields(s, r);
}

template <typename S, typename T> void replayFields(S &s, T &r) {
  s.text(r.name);
  s.enumerator(r.dtype, numDTypes);
  bufferFields(s, r.original);
  bufferFields(s, r.replayed);
  s.number(r.device);
}

template <typename S, typename T> void sourceFields(S &s, T &o) {
  s.text(o.name);
  s.text(o.kind);
  s.text(o.dtype);
  s.number(o.flops);
  s.number(o.signature);
}

/// Fields of an image, whose bytes follow the constants, in the order of the images.
template <typename S, typename T> void imageFields(S &s, T &i) {
  s.text(i.target);
  s.sequence(i.features, 8, [&](auto &feature) { s.text(feature); });
  s.bytesOf(i);
}

template <typename S, typename T> void kernelFields(S &s, T &k) {
  s.text(k.name);
  s.number(k.image);
  s.number(k.imageOffset);
  s.number(k.workspaceBytes);
  s.number(k.itemThreads);
  s.number(k.blockThreads);
  s.text(k.launch);
  s.sequence(k.ops, 40, [&](auto &op) { sourceFields(s, op); });
}

template <typename S, typename T> void chipFields(S &s, T &c) {
  s.text(c.chip);
  s.text(c.name);
  s.number(c.itemThreads);
  s.number(c.blockThreads);
}

/// The last fields of a manifest whose kernels differ from chip to chip: for each kernel its chips.
/// Other manifests end before.
template <typename S, typename T> void chipsOfKernels(S &s, T &kernels) {
  for (auto &kernel : kernels)
    s.sequence(kernel.chips, 24, [&](auto &chip) { chipFields(s, chip); });
}

bool differ(const Writer &, const Bundle &bundle) {
  return std::any_of(bundle.kernels.begin(), bundle.kernels.end(),
                     [](const Kernel &kernel) { return !kernel.chips.empty(); });
}

bool differ(const Reader &reader, const Bundle &) { return !reader.failed && !reader.atEnd(); }

template <typename S, typename T> void commandFields(S &s, T &c) {
  s.enumerator(c.kind, numCommandKinds);
  s.number(c.kernel);
  s.number(c.items);
  s.number(c.body);
  s.sequence(c.operands, 30, [&](auto &operand) {
    bufferFields(s, operand.buffer);
    s.enumerator(operand.access, ReadWrite + 1);
    shape(s, operand.strides);
  });
  s.sequence(c.indexChecks, 29, [&](auto &check) {
    s.number(check.operand);
    s.enumerator(check.dtype, numDTypes);
    s.number(check.count);
    s.number(check.limit);
    s.text(check.name);
  });
  s.text(c.label);
  s.number(c.flops);
  s.number(c.bytes);
  if (!isExplicit(c.kind))
    return;
  s.number(c.stream);
  s.number(c.event);
  s.number(c.tag);
  s.text(c.peer);
  s.text(c.function);
  shape(s, c.numbers);
}

/// Writes a command as its number in the table and its places, as differences to the previous
/// command with that number.
void placedCommands(Writer &writer, const Program &program, CommandTable &table, size_t &done) {
  writer.number(uint64_t(program.commands.size()));
  int64_t before = -1;
  for (const Command &command : program.commands) {
    uint32_t number = table.numbers[done++];
    writer.difference(int64_t(number) - before - 1);
    before = number;
    std::vector<uint64_t> places;
    forEachPlace(command, [&](auto value) { places.push_back(value); });
    size_t next = 0;
    forEachPlace(table.common[number], [&](auto &last) {
      writer.difference(int64_t(places[next] - last));
      last = places[next++];
    });
  }
}

/// Limit of the memory of commands from a small file: more than any bundle that can run.
constexpr uint64_t mostBytesOfCommands = uint64_t(1) << 30;

void placedCommands(Reader &reader, Program &program, CommandTable &table, size_t &bytes) {
  uint64_t count = 0;
  reader.number(count);
  int64_t before = -1;
  for (; count > 0 && !reader.failed; --count) {
    uint64_t number = uint64_t(reader.difference()) + uint64_t(before) + 1;
    reader.failed |= number >= table.common.size();
    if (reader.failed)
      return;
    before = int64_t(number);
    Command &command = table.common[number];
    forEachPlace(command, [&](auto &value) {
      value = std::decay_t<decltype(value)>(uint64_t(value) + uint64_t(reader.difference()));
    });
    bytes += countBytes(command);
    reader.failed |= bytes > mostBytesOfCommands;
    program.commands.push_back(command);
  }
}

template <typename S, typename T> void bundleFields(S &s, T &b, CommandTable &table) {
  s.text(b.producer);
  s.text(b.contractions);
  s.text(b.entry);
  s.sequence(b.devices, 16, [&](auto &device) {
    s.text(device.name);
    s.sequence(device.arguments, 4, [&](auto &number) { s.number(number); });
  });
  s.number(b.threads);
  s.flag(b.hasBudget);
  s.number(b.budgetBytes);
  s.sequence(b.arguments, 35, [&](auto &argument) { argumentFields(s, argument); });
  s.sequence(b.results, 42, [&](auto &result) { resultFields(s, result); });
  s.sequence(b.replayChecks, 51, [&](auto &check) { replayFields(s, check); });
  s.sequence(b.images, 24, [&](auto &image) { imageFields(s, image); });
  s.sequence(b.kernels, 52, [&](auto &kernel) { kernelFields(s, kernel); });
  size_t done = 0;
  s.sequence(table.common, 57, [&](auto &command) { commandFields(s, command); });
  s.sequence(b.programs, 24, [&](auto &program) {
    s.text(program.name);
    placedCommands(s, program, table, done);
    s.number(program.arenaBytes);
    s.number(program.hostBytes);
    s.number(program.device);
    s.number(program.pause);
  });
  s.number(b.workerWorkspaceBytes);
  if (differ(s, b))
    chipsOfKernels(s, b.kernels);
}

uint64_t checksum(Header header, const uint8_t *body, uint64_t size) {
  header.checksum = 0;
  Hasher hasher;
  hasher.update(&header, sizeof header);
  hasher.update(body, size);
  return hasher.value();
}

Error checkHeader(const uint8_t *data, uint64_t size, const std::string &name, Header &header) {
  if (size < sizeof magic || std::memcmp(data, magic, sizeof magic) != 0) {
    std::string_view bytes(reinterpret_cast<const char *>(data), size);
    std::string wrong = findMisplaced(name, bytes, FileKind::Bundle);
    return Error::make(wrong.empty() ? name + ": is not a Reprise bundle" : wrong);
  }
  if (size < sizeof(Header))
    return Error::make(name + ": the bundle is truncated within its header");
  std::memcpy(&header, data, sizeof header);
  if (header.version != bundleVersion)
    return Error::make(name + ": the bundle has version " + std::to_string(header.version) +
                       ", this runtime reads version " + std::to_string(bundleVersion) +
                       ": compile the model again");
  if (size < header.fileBytes)
    return Error::make(name + ": the bundle is truncated: " + reprise::groupDigits(int64_t(size)) +
                       " of " + reprise::groupDigits(int64_t(header.fileBytes)) + " bytes");
  uint64_t body = size - sizeof header;
  if (size != header.fileBytes || header.headerBytes != sizeof header || header.reserved != 0 ||
      checksum(header, data + sizeof header, body) != header.checksum)
    return Error::make(name + ": the bundle was changed: its checksum does not match");
  if (header.manifestBytes > body || header.constantBytes > body - header.manifestBytes ||
      header.imageBytes != body - header.manifestBytes - header.constantBytes)
    return Error::make(name + ": the bundle is malformed: its sections do not add up");
  return Error::success();
}

bool hasRows(const Bundle &bundle) {
  auto isPart = [](const auto &each) { return each.rows.of != 0; };
  return std::any_of(bundle.arguments.begin(), bundle.arguments.end(), isPart) ||
         std::any_of(bundle.results.begin(), bundle.results.end(), isPart);
}

/// A bundle in a file has all rows of its arrays.
Error checkWhole(const Bundle &bundle) {
  if (Error error = validateBundle(bundle))
    return error;
  return bundle.devices.empty() && hasRows(bundle)
             ? Error::make("a bundle of a single device has an argument in parts")
             : Error::success();
}

bool addUp(const std::vector<uint64_t> &parts, uint64_t whole) {
  for (uint64_t part : parts) {
    if (part > whole)
      return false;
    whole -= part;
  }
  return whole == 0;
}

} // namespace

Expected<std::vector<uint8_t>> reprise::runtime::serializeBundle(const Bundle &bundle) {
  if (Error error = checkWhole(bundle))
    return Error::make("the bundle is malformed: " + error.message());
  Writer writer;
  CommandTable table(bundle);
  writer.bytes.resize(sizeof(Header));
  bundleFields(writer, bundle, table);
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = bundleVersion;
  header.headerBytes = sizeof header;
  header.manifestBytes = writer.bytes.size() - sizeof header;
  header.constantBytes = bundle.constants.size();
  writer.raw(bundle.constants.data(), bundle.constants.size());
  for (const Image &image : bundle.images) {
    header.imageBytes += image.bytes.size();
    writer.raw(image.bytes.data(), image.bytes.size());
  }
  std::memcpy(writer.bytes.data(), &header, sizeof header);
  stampBundle(writer.bytes);
  return std::move(writer.bytes);
}

void reprise::runtime::stampBundle(std::vector<uint8_t> &bytes) {
  Header header;
  if (bytes.size() < sizeof header)
    return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.fileBytes = bytes.size();
  header.checksum = checksum(header, bytes.data() + sizeof header, bytes.size() - sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

Expected<Bundle> reprise::runtime::deserializeBundle(const uint8_t *data, uint64_t size,
                                                     const std::string &name) {
  Header header;
  if (Error error = checkHeader(data, size, name, header))
    return error;
  const uint8_t *manifest = data + sizeof header;
  const uint8_t *constants = manifest + header.manifestBytes;
  const uint8_t *image = constants + header.constantBytes;
  Bundle bundle;
  bundle.checksum = header.checksum;
  Reader reader(manifest, header.manifestBytes);
  CommandTable table;
  bundleFields(reader, bundle, table);
  if (reader.failed || !reader.atEnd() || !addUp(reader.imageBytes, header.imageBytes))
    return Error::make(name + ": the bundle is malformed: its manifest cannot be read");
  bundle.constants.assign(constants, image);
  for (size_t i = 0; i < bundle.images.size(); image += reader.imageBytes[i++])
    bundle.images[i].bytes.assign(image, image + reader.imageBytes[i]);
  if (Error error = checkWhole(bundle))
    return Error::make(name + ": the bundle is malformed: " + error.message());
  return bundle;
}

Error reprise::runtime::writeBundle(const Bundle &bundle, const std::string &path) {
  Expected<std::vector<uint8_t>> bytes = serializeBundle(bundle);
  if (!bytes)
    return Error::make(path + ": " + bytes.message());
  return writeFile(path, bytes->data(), bytes->size());
}

Expected<Bundle> reprise::runtime::readBundle(const std::string &path) {
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  return deserializeBundle(bytes->data(), bytes->size(), path);
}
