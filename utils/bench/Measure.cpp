// reprise: common parts of the kernel benchmarks: flags, and output of figures
#include "Measure.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace reprise::bench {

bool Options::parse(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    auto [flag, value] = llvm::StringRef(argv[i]).split('=');
    std::string *text = flag == "--target"   ? &target
                        : flag == "--filter" ? &filter
                        : flag == "--json"   ? &json
                                             : nullptr;
    int *number = flag == "--threads" ? &threads : flag == "--repetitions" ? &repetitions : nullptr;
    auto known = own.find(flag);
    if (known != own.end()) {
      known->second = true;
    } else if (text) {
      *text = value.str();
    } else if (!number || value.getAsInteger(10, *number) || *number < 1) {
      llvm::errs() << llvm::sys::path::filename(argv[0]) << ": unknown argument '" << argv[i]
                   << "'\n";
      return false;
    }
  }
  return true;
}

int finish(llvm::json::Array rows, const Options &options) {
  for (int threads = 1; threads <= options.threads; ++threads) {
    double logs = 0;
    int count = 0;
    for (llvm::json::Value &row : rows) {
      llvm::json::Object &fields = *row.getAsObject();
      auto library = fields.getNumber("onednn_" + std::to_string(threads));
      if (!library)
        continue;
      logs += std::log(*fields.getNumber("own_" + std::to_string(threads)) / *library);
      ++count;
    }
    if (count)
      printf("geometric mean of the ratio, %d threads: %.3f\n", threads, std::exp(logs / count));
  }
  if (options.json.empty())
    return 0;
  std::error_code error;
  llvm::raw_fd_ostream out(options.json, error);
  if (error) {
    llvm::errs() << "cannot write '" << options.json << "': " << error.message() << "\n";
    return 1;
  }
  out << llvm::formatv("{0:2}", llvm::json::Value(std::move(rows))) << "\n";
  return 0;
}

} // namespace reprise::bench
