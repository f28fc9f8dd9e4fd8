// reprise: transfers of values that lie in the memory of GPUs
#ifndef REPRISE_LIB_RUNTIME_CUDATRANSFER_H
#define REPRISE_LIB_RUNTIME_CUDATRANSFER_H

#include "CudaDriver.h"
#include "reprise/Runtime/Transport.h"

namespace reprise::runtime::cuda {

/// What a program's transfers share: its device, and a stream that copies beside the computation.
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

/// Between GPUs of one process a value is copied from place to place when the streams of both
/// programs have come so far, and only these streams wait. A transport that carries memory of the
/// host gets it through pinned memory: then the sending program's thread waits for the value.
class CudaTransfer : public Transfer, Mover {
public:
  CudaTransfer(const TransferStream &copies, bool isStaged) : copies(copies), isStaged(isStaged) {}
  CudaTransfer(const CudaTransfer &) = delete;
  ~CudaTransfer();

  /// Before the first start; `bytes` is the most of any.
  Error open(uint64_t bytes);
  /// Behind the work that `stream` has. The fields that say what is transferred are set.
  Error start(Endpoint &endpoint, Stream stream, Address place);
  /// For a transport that sends or receives in streams itself: `give` gets the stream of transfers
  /// and the value's place, where the value is there, or its place is free.
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
  Event ready = nullptr; ///< the value is there, or its place is free
  Event done = nullptr;  ///< it has been copied
  void *pinned = nullptr;
  Address place = 0;
  Context reached = nullptr; ///< of the GPU that reach() was last asked for
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDATRANSFER_H
