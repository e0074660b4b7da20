/// Ids that are hashed block by block while they come, and then forgotten.
#pragma once

#include "base/hashing.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace kvindex::tokens {

/// One prompt. One thread. Some thousand ids are hashed at a time, out of the core's cache.
class block_sink {
public:
    /// `locals` is empty; `buffer` is the sink's until its end.
    block_sink(std::uint32_t block_size, std::uint64_t seed, std::vector<local_hash>& locals,
               std::vector<std::uint32_t>& buffer)
        : m_block_size(block_size), m_seed(seed), m_locals(locals), m_buffer(buffer) {
        constexpr std::size_t at_once = 4096;
        m_buffer.resize(std::max<std::size_t>(1, at_once / block_size) * block_size);
    }

    void put(std::span<const std::uint32_t> ids) {
        while (ids.size() > m_buffer.size() - m_used) {
            const std::size_t part = m_buffer.size() - m_used;
            append(ids.first(part));
            ids = ids.subspan(part);
            settle();
        }
        append(ids);
    }

    /// Hashes all complete blocks.
    void settle() {
        const std::size_t blocks = m_used / m_block_size;
        if (blocks == 0) {
            return;
        }
        const std::size_t before = m_locals.size();
        m_locals.resize(before + blocks);
        hash_blocks(m_buffer.data(), m_block_size, m_seed, std::span(m_locals).subspan(before));
        const std::size_t hashed = blocks * m_block_size;
        std::memmove(m_buffer.data(), m_buffer.data() + hashed, (m_used - hashed) * sizeof(std::uint32_t));
        m_used -= hashed;
    }

    /// Goes on behind these blocks and ids, which follow what was there.
    void go_on(std::span<const local_hash> blocks, std::span<const std::uint32_t> ids_behind) {
        m_locals.insert(m_locals.end(), blocks.begin(), blocks.end());
        m_used = 0;
        append(ids_behind);
    }

    /// Ids behind the last complete block, when settled.
    std::span<const std::uint32_t> behind() const {
        return {m_buffer.data(), m_used};
    }

    std::uint64_t tokens() const {
        return std::uint64_t{m_locals.size()} * m_block_size + m_used;
    }

private:
    void append(std::span<const std::uint32_t> ids) {
        std::copy(ids.begin(), ids.end(), m_buffer.data() + m_used);
        m_used += ids.size();
    }

    const std::uint32_t m_block_size;
    const std::uint64_t m_seed;
    std::vector<local_hash>& m_locals;
    std::vector<std::uint32_t>& m_buffer;
    std::size_t m_used = 0;
};

} // namespace kvindex::tokens
