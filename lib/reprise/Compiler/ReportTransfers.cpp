// reprise: transfers to other devices in reports
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Transfers.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/Locations.h"

using namespace mlir;

namespace reprise {

/// Returns the device of the program that receives a value; the own device if the module does not
/// have the program.
static int64_t findReceiver(exec::SendOp send, int64_t own) {
  auto peer = SymbolTable::lookupNearestSymbolFrom<ProgramOp>(send->getParentOfType<ProgramOp>(),
                                                              send.getPeerAttr());
  return peer ? findOnlyDevice(peer).value_or(own) : own;
}

static TransferPurpose readPurpose(exec::SendOp send) {
  if (auto given = send->getAttrOfType<DictionaryAttr>(kTransferAttr))
    return TransferPurpose::read(given);
  std::string scope = getScope(send.getLoc());
  return {TransferPurpose::kSend, scope.empty() ? getPlace(send.getLoc()) : scope, std::nullopt};
}

std::vector<ReportedTransfers> describeTransfers(ProgramOp step, const CostModel &costs) {
  std::vector<ReportedTransfers> all;
  std::map<std::tuple<std::string, std::string, std::string, int64_t>, size_t> numbers;
  pipeline::Links links = costs.getLinks();
  int64_t device = findOnlyDevice(step).value_or(0);
  step.walk([&](exec::SendOp send) {
    TransferPurpose purpose = readPurpose(send);
    auto [found, isNew] = numbers.try_emplace(
        {purpose.kind.str(), purpose.part.str(), purpose.value, purpose.dim.value_or(-1)},
        all.size());
    if (isNew)
      all.push_back({purpose.kind.str(), purpose.part.str(), purpose.value, purpose.dim});
    ReportedTransfers &entry = all[found->second];
    int64_t times = countExecutions(send), bytes = getByteSize(send.getValue().getType());
    entry.count += times;
    entry.bytes += times * bytes;
    entry.seconds +=
        static_cast<double>(times) *
        links.getSeconds(device, findReceiver(send, device), static_cast<double>(bytes));
  });
  return all;
}

std::map<std::string, ReportedTransfers> sumByKind(const Report &report) {
  std::map<std::string, ReportedTransfers> sums;
  for (const ReportedTransfers &each : report.transfers) {
    ReportedTransfers &sum = sums[each.kind];
    sum.count += each.count;
    sum.bytes += each.bytes;
    sum.seconds += each.seconds;
  }
  return sums;
}

} // namespace reprise
