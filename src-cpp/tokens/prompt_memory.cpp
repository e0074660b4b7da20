#include "tokens/prompt_memory.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>

namespace kvindex::tokens {

prompt_memory::statistics& prompt_memory::statistics::operator+=(const statistics& other) {
    pieces += other.pieces;
    bytes += other.bytes;
    evicted += other.evicted;
    found += other.found;
    missed += other.missed;
    return *this;
}

prompt_memory::prompt_memory(std::uint64_t max_bytes) : m_part_bytes(max_bytes / part_count) {
    std::random_device chance;
    std::array<std::random_device::result_type, 16> seed;
    for (auto& word : seed) {
        word = chance();
    }
    XXH3_generateSecret(m_secret.data(), m_secret.size(), seed.data(), sizeof seed);
}

prompt_memory::key prompt_memory::hash(const void* data, std::size_t size) const {
    const XXH128_hash_t h = XXH3_128bits_withSecret(data, size, m_secret.data(), m_secret.size());
    return {h.low64, h.high64};
}

prompt_memory::key prompt_memory::origin(std::uint64_t tokenizer, std::uint32_t flags, std::uint32_t block_size,
                                         std::uint64_t seed) const {
    const std::array<std::uint64_t, 3> words{tokenizer, std::uint64_t{flags} << 32 | block_size, seed};
    return hash(words.data(), sizeof words);
}

prompt_memory::key prompt_memory::next(const key& before, bytes text, bool end_of_prompt) const {
    const key own = hash(text.data(), text.size());
    const std::array<std::uint64_t, 5> link{before.low, before.high, own.low, own.high,
                                            std::uint64_t{text.size()} << 1 | (end_of_prompt ? 1u : 0u)};
    return hash(link.data(), sizeof link);
}

std::shared_ptr<const prompt_memory::piece> prompt_memory::find(const key& place) {
    part& p = part_of(place);
    const std::lock_guard<std::mutex> hold(p.mutex);
    const auto at = p.pieces.find(place);
    if (at == p.pieces.end()) {
        p.counts.missed++;
        return nullptr;
    }
    p.counts.found++;
    p.by_use.splice(p.by_use.begin(), p.by_use, at->second);
    return at->second->content;
}

void prompt_memory::keep(const key& place, piece content) {
    const std::uint64_t size = bytes_of(content);
    if (size > m_part_bytes / 2) {
        return;
    }
    std::list<entry> fresh; // made without the mutex
    fresh.push_back({place, std::make_shared<const piece>(std::move(content))});
    std::list<entry> gone; // freed without it
    part& p = part_of(place);
    const std::lock_guard<std::mutex> hold(p.mutex);
    if (!p.pieces.emplace(place, fresh.begin()).second) {
        return; // another thread was first
    }
    p.by_use.splice(p.by_use.begin(), fresh);
    p.counts.pieces++;
    p.counts.bytes += size;
    while (p.counts.bytes > m_part_bytes) {
        const entry& oldest = p.by_use.back();
        p.pieces.erase(oldest.place);
        p.counts.pieces--;
        p.counts.bytes -= bytes_of(*oldest.content);
        p.counts.evicted++;
        gone.splice(gone.begin(), p.by_use, std::prev(p.by_use.end()));
    }
}

/// Of the lists, the map and the allocator: about 250 bytes a piece.
std::uint64_t prompt_memory::bytes_of(const piece& p) {
    constexpr std::uint64_t overhead = 250;
    return overhead + p.blocks.capacity() * sizeof(local_hash) + p.behind.capacity() * sizeof(std::uint32_t);
}

prompt_memory::statistics prompt_memory::stats() const {
    statistics sum;
    for (const part& p : m_parts) {
        const std::lock_guard<std::mutex> hold(p.mutex);
        sum += p.counts;
    }
    return sum;
}

} // namespace kvindex::tokens
