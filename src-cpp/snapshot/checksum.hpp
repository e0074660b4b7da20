/// Checksum of a section: any changed bit of its head or payload changes it.
#pragma once

#include "snapshot/format.hpp"

namespace kvindex::snapshot {

/// `payload` is head.bytes long; head.checksum itself does not count.
std::uint64_t checksum_of(const section_head& head, const void* payload);

} // namespace kvindex::snapshot
