// reprise: links relocatable x86-64 objects to one flat image, without a linker process
#include "reprise/Conversion/Cpu/Target.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace reprise {
namespace {

using Object = ELFFile<ELF64LE>;

/// Adds one object to an image: layout, then symbols, then relocations.
class ObjectLinker {
public:
  ObjectLinker(Image &image, const Object &object) : image(image), object(object) {}

  Error link() {
    auto list = object.sections();
    if (!list)
      return list.takeError();
    sections = *list;
    for (const auto &section : sections)
      if (Error error = place(section))
        return error;
    for (const auto &section : sections) {
      Error error = section.sh_type == ELF::SHT_SYMTAB ? define(section)
                    : section.sh_type == ELF::SHT_RELA ? relocate(section)
                                                       : Error::success();
      if (error)
        return error;
    }
    return Error::success();
  }

private:
  Error place(const Object::Elf_Shdr &section) {
    offsets.push_back(0);
    if (!(section.sh_flags & ELF::SHF_ALLOC) || !section.sh_size)
      return Error::success();
    if ((section.sh_flags & ELF::SHF_WRITE) || section.sh_type != ELF::SHT_PROGBITS)
      return createStringError("a kernel has writable or special data");
    auto contents = object.getSectionContents(section);
    if (!contents)
      return contents.takeError();
    // Kernels start on a cache line even where an object would be content with less.
    uint64_t alignment = std::max<uint64_t>(section.sh_addralign, 64);
    image.bytes.resize(alignTo(image.bytes.size(), alignment), 0);
    offsets.back() = image.bytes.size();
    image.bytes.insert(image.bytes.end(), contents->begin(), contents->end());
    return Error::success();
  }

  Error define(const Object::Elf_Shdr &table) {
    auto symbols = object.symbols(&table);
    auto strings = object.getStringTableForSymtab(table);
    if (!symbols || !strings)
      return joinErrors(symbols.takeError(), strings.takeError());
    for (const auto &symbol : *symbols) {
      if (symbol.getType() != ELF::STT_FUNC || symbol.getBinding() != ELF::STB_GLOBAL)
        continue;
      StringRef name = cantFail(symbol.getName(*strings));
      if (!image.symbols.emplace(name.str(), offsets[symbol.st_shndx] + symbol.st_value).second)
        return createStringError("kernel '" + name + "' is defined twice");
    }
    return Error::success();
  }

  /// Applies the relocations of one section, if that section is part of the image.
  Error relocate(const Object::Elf_Shdr &table) {
    if (!(sections[table.sh_info].sh_flags & ELF::SHF_ALLOC))
      return Error::success();
    auto entries = object.relas(table);
    if (!entries)
      return entries.takeError();
    const auto &symbolTable = sections[table.sh_link];
    auto strings = object.getStringTableForSymtab(symbolTable);
    if (!strings)
      return strings.takeError();
    for (const auto &entry : *entries) {
      auto symbol = object.getRelocationSymbol(entry, &symbolTable);
      if (!symbol)
        return symbol.takeError();
      if ((*symbol)->st_shndx == ELF::SHN_UNDEF)
        return createStringError("a kernel refers to the undefined symbol '" +
                                 cantFail((*symbol)->getName(*strings)) + "'");
      int64_t value = offsets[(*symbol)->st_shndx] + (*symbol)->st_value + entry.r_addend;
      if (Error error = patch(entry.getType(false), offsets[table.sh_info] + entry.r_offset, value))
        return error;
    }
    return Error::success();
  }

  Error patch(uint32_t type, uint64_t place, int64_t value) {
    int64_t distance = value - static_cast<int64_t>(place);
    if (type == ELF::R_X86_64_PC64) {
      support::endian::write64le(&image.bytes[place], distance);
      return Error::success();
    }
    if (type != ELF::R_X86_64_PC32 && type != ELF::R_X86_64_PLT32)
      return createStringError("a kernel has a relocation of the unknown type " + Twine(type));
    if (!isInt<32>(distance))
      return createStringError("the image of the kernels is too large");
    support::endian::write32le(&image.bytes[place], distance);
    return Error::success();
  }

  Image &image;
  const Object &object;
  Object::Elf_Shdr_Range sections;
  std::vector<uint64_t> offsets; // offsets of sections in the image
};

} // namespace

Expected<Image> linkImage(ArrayRef<std::string> objects) {
  Image image;
  for (const std::string &bytes : objects) {
    Expected<Object> object = Object::create(bytes);
    if (!object)
      return object.takeError();
    if (Error error = ObjectLinker(image, *object).link())
      return std::move(error);
  }
  image.bytes.resize(alignTo(image.bytes.size(), 64), 0);
  return image;
}

} // namespace reprise
