/// Names for the blocks of an engine that has none: Dynamo's chained hashes (src/docs/how-to/publisher.md).
/// Pure.
#pragma once

#include "publisher/wire.hpp"

namespace kvpub {

/// `out` is as long as there are blocks; `blocks.ids` is not looked at.
void block_ids(const stored_blocks& blocks, std::span<std::uint64_t> out);

} // namespace kvpub
