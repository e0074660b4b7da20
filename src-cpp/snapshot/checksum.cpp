#include "snapshot/checksum.hpp"

#include <cstddef>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kvindex::snapshot {

std::uint64_t checksum_of(const section_head& head, const void* payload) {
    return XXH3_64bits_withSeed(payload, head.bytes, XXH3_64bits(&head, offsetof(section_head, checksum)));
}

} // namespace kvindex::snapshot
