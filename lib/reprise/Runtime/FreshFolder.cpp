// reprise: a folder that replaces another folder at once
#include "FreshFolder.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace reprise::runtime;

static constexpr char asideEnd[] = ".old";

static bool isFolder(const std::string &path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

static std::vector<std::string> namesIn(const std::string &path) {
  std::vector<std::string> names;
  DIR *folder = opendir(path.c_str());
  if (!folder)
    return names;
  while (dirent *entry = readdir(folder))
    if (std::string name = entry->d_name; name != "." && name != "..")
      names.push_back(name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns whether a run could have written the file: run.json, an array, arrays with their index,
/// or a temporary file of these. Other files belong to the user.
static bool isOfRun(const std::string &path, const std::string &name) {
  struct stat status{};
  return lstat((path + "/" + name).c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (name.rfind("run.json", 0) == 0 || name.find(".npy") != std::string::npos ||
          name.find(".safetensors") != std::string::npos);
}

/// Removes the folder if all its files belong to a run.
static void removeRun(const std::string &path) {
  std::vector<std::string> names = namesIn(path);
  for (const std::string &name : names)
    if (!isOfRun(path, name))
      return;
  for (const std::string &name : names)
    unlink((path + "/" + name).c_str());
  rmdir(path.c_str());
}

/// ".NAME.reprise-" in the folder of `target`, short enough to be continued.
static std::string freshPrefix(const std::string &target) {
  size_t begin = target.rfind('/') + 1; // 0 without a slash
  return target.substr(0, begin) + "." + target.substr(begin, NAME_MAX - 64) + ".reprise-";
}

/// Returns a descriptor that holds the folder's lock. Returns -1 if there is no such folder, if
/// another process holds the lock, or if the file system has no locks, so that use cannot be
/// detected.
static int lockFolder(const std::string &path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

FreshFolder::FreshFolder(const std::string &target) : target(target) {
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    name = freshPrefix(target) + std::to_string(getpid()) + "-" + std::to_string(attempt);
    if (mkdir(name.c_str(), 0777) == 0) {
      lock = lockFolder(name);
      // Between the two calls another process may have removed the folder as a leftover.
      if (isFolder(name))
        return;
      if (lock >= 0)
        close(lock);
      lock = -1;
    } else if (errno != EEXIST) {
      break;
    }
  }
  fail();
  name.clear();
}

FreshFolder::~FreshFolder() {
  if (!name.empty())
    removeRun(name);
  if (lock >= 0)
    close(lock);
}

bool FreshFolder::fail() {
  failure = std::strerror(errno);
  return false;
}

/// Swaps the folders; the old folder at the target gets the name `name`.
bool FreshFolder::swap() {
  // glibc 2.27 has no function for this call.
  if (syscall(SYS_renameat2, AT_FDCWD, name.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) ==
      0)
    return true;
  if (errno != EINVAL && errno != ENOSYS)
    return fail();
  // The file system cannot exchange folders: for a moment there is no folder, but never a mixture.
  std::string aside = name + asideEnd;
  if (rename(target.c_str(), aside.c_str()) != 0)
    return fail();
  if (rename(name.c_str(), target.c_str()) != 0) {
    fail();
    rename(aside.c_str(), target.c_str());
    return false;
  }
  name = aside;
  return true;
}

bool FreshFolder::takePlace() {
  if (access(target.c_str(), F_OK) == 0)
    return swap();
  if (rename(name.c_str(), target.c_str()) != 0)
    return fail();
  name.clear();
  return true;
}

bool FreshFolder::takePlaceWith(const std::string &file) {
  return rename((name + "/" + file).c_str(), target.c_str()) == 0 || fail();
}

void FreshFolder::removeLeftovers(const std::string &target) {
  std::string prefix = freshPrefix(target);
  size_t slash = prefix.rfind('/');
  std::string parent = slash == std::string::npos ? "." : prefix.substr(0, slash + 1);
  std::string start = prefix.substr(slash == std::string::npos ? 0 : slash + 1);
  for (const std::string &entry : namesIn(parent)) {
    if (entry.rfind(start, 0) != 0)
      continue;
    std::string path = prefix + entry.substr(start.size());
    unsigned process, attempt;
    int end = 0;
    std::string rest = entry.substr(start.size());
    if (std::sscanf(rest.c_str(), "%u-%u%n", &process, &attempt, &end) != 2)
      continue;
    std::string tail = rest.substr(end);
    if (!tail.empty() && tail != asideEnd)
      continue;
    // The lock of an old folder that was moved aside is that of its replacement.
    std::string owner = prefix + rest.substr(0, end);
    int lock = lockFolder(isFolder(owner) ? owner : path);
    if (lock < 0)
      continue;
    if (tail.empty() || access(target.c_str(), F_OK) == 0)
      removeRun(path);
    else
      rename(path.c_str(), target.c_str());
    close(lock);
  }
}
