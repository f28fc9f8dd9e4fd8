// reprise: transfers of values that lie in the memory of GPUs
#ifndef REPRISE_LIB_RUNTIME_CUDATRANSFER_H
#define REPRISE_LIB_RUNTIME_CUDATRANSFER_H

#include "CudaDriver.h"
#include "reprise/Runtime/Transport.h"

namespace reprise::runtime::cuda {

/// Common data of a program's transfers: its device, and a stream that copies beside the
/// computation.
struct TransferStream {
  const Driver &driver;
  Number device;
  Context context;
  Stream stream = nullptr;

  TransferStream(const Driver &driver, Number device, Context context)
      : driver(driver), device(device), context(context) {}
  TransferStream(const TransferStream &) = delete;
  /// Waits for its copies.
  ~TransferStream();
  Error open();
};

/// Transfer of a value in GPU memory. Between GPUs of one process the value is copied directly when
/// both streams have reached the transfer, and only these streams wait. A transport of host memory
/// uses pinned memory: the sending program's thread then waits for the value.
class CudaTransfer : public Transfer, Mover {
public:
  CudaTransfer(const TransferStream &copies, bool isStaged) : copies(copies), isStaged(isStaged) {}
  CudaTransfer(const CudaTransfer &) = delete;
  ~CudaTransfer();

  /// Allocates before the first start; `bytes` is the largest transfer.
  Error open(uint64_t bytes);
  /// Starts behind the work of `stream`. The caller has set the fields that describe the transfer.
  Error start(Endpoint &endpoint, Stream stream, Address place);
  /// Gives the stream of transfers and the value's place to `give`, for a transport that sends or
  /// receives in streams itself. On that stream the value is complete, or its place is free.
  Error carry(const std::function<Error(Stream, Address)> &give);
  /// Lets `stream` go on when the value has arrived, or has left.
  Error wait(Endpoint &endpoint, Stream stream);

private:
  Error move(Transfer &from, Transfer &to) override;
  Error copyFrom(const CudaTransfer &from);
  Error preparePinned();
  /// Lets copies come directly from the memory of another GPU, where the machine can do that.
  Error reach(const CudaTransfer &from);

  const TransferStream &copies;
  const bool isStaged;
  Event ready = nullptr; ///< the value is complete, or its place is free
  Event done = nullptr;  ///< the value has been copied
  void *pinned = nullptr;
  Address place = 0;
  Context reached = nullptr; ///< context of the last GPU that reach() enabled
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDATRANSFER_H
