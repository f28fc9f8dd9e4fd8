// reprise: the writer of run folders, alone or as one of several processes
#include "FolderWriter.h"
#include "FolderPlaces.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Npy.h"

#include <pthread.h>

using namespace reprise::runtime;

SignalHold::SignalHold() {
  sigemptyset(&held);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before);
}

SignalHold::~SignalHold() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

bool SignalHold::interrupted() const {
  sigset_t pending;
  sigpending(&pending);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (sigismember(&pending, signal) && !sigismember(&before, signal) &&
        action.sa_handler == SIG_DFL)
      return true;
  }
  return false;
}

Error FolderWriter::agree(const Error &own) const { return ranks ? ranks->agree(own) : own; }

bool FolderWriter::isFirst() const { return !ranks || ranks->isFirst(); }

Error FolderWriter::open() {
  if (isSafetensorsName(folder.path))
    tensors = layOutTensors(folder, runRecordText(next, folder.interface));
  else if (folder.shardBytes != 0)
    tensors = layOutTensors(folder, partOfFolder);
  if (Error error = agree(isFirst() ? openHere() : Error::success()))
    return error;
  return ranks ? join() : Error::success();
}

Error FolderWriter::openHere() {
  if (Error error = checkRunFolder(folder))
    return error;
  fresh.emplace(resolveFolder(folder.path));
  into = fresh->path();
  if (!fresh->error().empty())
    return cannotWrite(folder.path, fresh->error());
  return tensors ? writeHeaders() : Error::success();
}

/// Tells all processes the name of the folder.
Error FolderWriter::join() {
  auto paths = ranks->exchange(into);
  if (!paths)
    return paths.error();
  into = paths->front();
  return Error::success();
}

Error FolderWriter::write(const std::string &file, const std::string &text) const {
  Error error = writeFile(into + "/" + file, text.data(), text.size());
  return error ? underItsName(error) : Error::success();
}

Error FolderWriter::writeHeaders() const {
  for (const SafetensorsLayout::File &file : tensors->files)
    if (Error error = write(file.name, file.header))
      return error;
  return tensors->index.empty() ? Error::success() : write(tensorIndexFile, tensors->index);
}

Error FolderWriter::add(const std::vector<ArrayRef> &arrays,
                        const std::function<bool()> &isStopped) const {
  if (Error error = checkData(arrays))
    return cannotWrite(folder.path, error.message());
  for (size_t i = 0; i < arrays.size();) {
    std::vector<ArrayRef> parts;
    do
      parts.push_back(arrays[i++]);
    while (i < arrays.size() && arrays[i].firstRow != 0 && arrays[i].name == parts[0].name);
    if (Error error = addArray(parts))
      return underItsName(error);
    if (isStopped())
      return Error::make("interrupted");
  }
  return Error::success();
}

/// Adds one array, or the parts of it that this process has.
Error FolderWriter::addArray(const std::vector<ArrayRef> &parts) const {
  if (tensors) {
    SafetensorsLayout::Place place = tensors->places.at(parts.front().name);
    std::string path = into + "/" + tensors->files[place.file].name;
    for (const ArrayRef &part : parts)
      if (Error error = writeElements(path, {}, part, place.begin))
        return error;
    return Error::success();
  }
  std::string path = into + "/" + arrayFileName(parts.front().name);
  int64_t row = 0;
  bool isWhole = parts.back().endsWhole() && parts.back().rowDim == 0;
  for (const ArrayRef &part : parts) {
    isWhole &= part.firstRow == row;
    row += part.wholeRows ? part.shape[0] : 0;
  }
  if (isWhole)
    return writeNpyParts(path, parts);
  for (const ArrayRef &part : parts)
    if (Error error = writeNpyRows(path, part))
      return error;
  return Error::success();
}

Error FolderWriter::finish(const Error &added) {
  if (Error error = agree(added))
    return error;
  return agree(isFirst() ? finishHere() : Error::success());
}

Error FolderWriter::finishHere() {
  bool isFile = isSafetensorsName(folder.path);
  if (!isFile)
    if (Error error = write("run.json", runRecordText(next, folder.interface)))
      return error;
  bool isDone = isFile ? fresh->takePlaceWith(soleTensorFile) : fresh->takePlace();
  return isDone ? Error::success() : cannotWrite(folder.path, fresh->error());
}

/// Replaces the temporary name in an error by the folder's final name, which the user knows.
Error FolderWriter::underItsName(const Error &error) const {
  std::string text = error.message();
  std::string own = isSafetensorsName(folder.path) ? into + "/" + soleTensorFile : into;
  if (size_t at = text.find(own); at != std::string::npos)
    text.replace(at, own.size(), folder.path);
  return Error::make(text);
}

Error reprise::runtime::writeRunFolder(const OutputFolder &folder,
                                       const std::vector<ArrayRef> &arrays, const RunState &next,
                                       Ranks *ranks) {
  SignalHold hold;
  FolderWriter writer(folder, next, ranks);
  if (Error error = writer.open())
    return error;
  return writer.finish(writer.add(arrays, [&] { return hold.interrupted(); }));
}
