// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "entry.hpp"

namespace fake {

namespace {

bool reaches(const device& from, const device& to) {
  return &from != &to && from.reachable[static_cast<std::size_t>(to.id)] != 0;
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int ordinal, int peer_ordinal) {
  return call<"cudaDeviceCanAccessPeer">([&]() -> cudaError_t {
    const device* const from = the_machine().at(ordinal);
    const device* const to = the_machine().at(peer_ordinal);
    if (from == nullptr || to == nullptr) return cudaErrorInvalidDevice;
    *can = reaches(*from, *to);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer_ordinal, unsigned flags) {
  return call_on_device<"cudaDeviceEnablePeerAccess">([&](device& current) -> cudaError_t {
    if (flags != 0) return cudaErrorInvalidValue;
    device* const peer = the_machine().at(peer_ordinal);
    if (peer == nullptr || !reaches(current, *peer)) return cudaErrorInvalidDevice;
    if (const cudaError_t status = make_context(*peer, true)) return status;
    const std::lock_guard lock(current.mutex);
    return current.peers.insert(peer_ordinal).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer_ordinal) {
  return call_on_device<"cudaDeviceDisablePeerAccess">([&](device& current) {
    const std::lock_guard lock(current.mutex);
    return current.peers.erase(peer_ordinal) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int ordinal,
                                      int peer_ordinal) {
  return call<"cudaDeviceGetP2PAttribute">([&]() -> cudaError_t {
    const device* const from = the_machine().at(ordinal);
    const device* const to = the_machine().at(peer_ordinal);
    if (from == nullptr || to == nullptr || from == to) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank:
        *value = 0;
        return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
        *value = reaches(*from, *to);
        return cudaSuccess;
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 0;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}
}
