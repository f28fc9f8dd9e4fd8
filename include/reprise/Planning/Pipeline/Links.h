// reprise: links between numbered devices: inside a node, and between nodes
#ifndef REPRISE_PLANNING_PIPELINE_LINKS_H
#define REPRISE_PLANNING_PIPELINE_LINKS_H

#include <cstdint>

namespace reprise::pipeline {

/// Rates of the links of equal devices. Consecutive devices form a node.
struct Links {
  int64_t nodeDevices = 0; ///< devices per node; 0: all devices are in one node
  double link = 0;         ///< bytes per second inside a node, one way; 0: no time
  double network = 0;      ///< bytes per second between nodes, per device, one way; 0: as `link`
  double message = 0;      ///< fixed seconds of a transfer

  bool isOneNode(int64_t first, int64_t second) const {
    return nodeDevices == 0 || first / nodeDevices == second / nodeDevices;
  }
  /// Returns the seconds of `bytes` bytes from one device to another.
  double getSeconds(int64_t first, int64_t second, double bytes) const {
    double rate = isOneNode(first, second) || network == 0 ? link : network;
    return message + (rate > 0 ? bytes / rate : 0);
  }
  /// Returns the seconds of a transfer between two devices, divided by those inside a node, for a
  /// transfer of 1 MiB.
  double getFactor(int64_t first, int64_t second) const {
    double usual = getSeconds(0, 0, 1 << 20);
    return usual > 0 ? getSeconds(first, second, 1 << 20) / usual : 1;
  }
};

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_LINKS_H
