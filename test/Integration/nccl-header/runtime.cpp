// reprise: the runtime's declarations of NCCL, compared with NCCL's header by a compiler
#include "Nccl.h"

#include <cstddef>
#include <nccl.h>
#include <type_traits>

using namespace reprise::runtime;

static_assert(NCCL_VERSION_CODE >= nccl::oldestVersion);
static_assert(int(ncclSuccess) == nccl::success && int(ncclInProgress) == nccl::inProgress);
static_assert(sizeof(ncclResult_t) == sizeof(nccl::Result));
static_assert(sizeof(ncclDataType_t) == sizeof(nccl::DataType));
#ifdef SABOTAGE
static_assert(int(ncclInt8) == nccl::bytes);
#else
static_assert(int(ncclUint8) == nccl::bytes);
#endif
static_assert(sizeof(ncclUniqueId) == sizeof(nccl::UniqueId));
static_assert(offsetof(ncclConfig_t, size) == offsetof(nccl::Config, size));
static_assert(offsetof(ncclConfig_t, magic) == offsetof(nccl::Config, magic));
static_assert(offsetof(ncclConfig_t, version) == offsetof(nccl::Config, version));
static_assert(offsetof(ncclConfig_t, blocking) == offsetof(nccl::Config, blocking));
static_assert(nccl::Config{}.magic == NCCL_API_MAGIC);
static_assert(offsetof(ncclConfig_t, cgaClusterSize) == offsetof(nccl::Config, clusterSize));
static_assert(nccl::Config{}.clusterSize == NCCL_CONFIG_UNDEF_INT);
static_assert(offsetof(ncclConfig_t, minCTAs) == sizeof(nccl::Config));

/// Functions whose parameters are passed alike: handles are pointers, enumerations are int.
template <typename T> struct Passed {
  using Bare = std::remove_cv_t<std::remove_pointer_t<T>>;
  static constexpr bool isPointer = std::is_pointer_v<T>;
  static constexpr bool isClass = std::is_class_v<T>;
  static constexpr size_t size = sizeof(T);
};
template <typename A, typename B>
constexpr bool areAlike =
    Passed<A>::isPointer == Passed<B>::isPointer && Passed<A>::isClass == Passed<B>::isClass &&
    Passed<A>::size == Passed<B>::size;
template <typename R, typename... As, typename S, typename... Bs>
constexpr bool match(R (*)(As...), S (*)(Bs...)) {
  if constexpr (sizeof...(As) == sizeof...(Bs))
    return areAlike<R, S> && (areAlike<As, Bs> && ...);
  return false;
}

#define COMPARE(member, name, result, parameters)                                                  \
  static_assert(match(decltype(nccl::Library::member){}, decltype(&name){}));
REPRISE_NCCL_FUNCTIONS(COMPARE)
