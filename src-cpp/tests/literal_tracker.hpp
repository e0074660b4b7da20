/// The block cache tracker as its source describes it, slow and without structure: maps, epochs, sorting. What
/// the product has to answer. `order` says which of equally old blocks goes first: the source does not.
#pragma once

#include "tracker/block_tracker.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace kvindex::tests {

/// What is evicted first among blocks of one epoch: the deepest, or (naive) whatever has the smaller hash.
enum class eviction { deepest_first, naive };

class literal_tracker {
public:
    using prompt = std::vector<std::uint32_t>;

    literal_tracker(tracker::tracker_options o, eviction order = eviction::deepest_first)
        : m_options(o), m_order(order) {
    }

    std::vector<std::uint64_t> hashes(const prompt& tokens, std::uint64_t seed = 0) const {
        std::vector<std::uint64_t> out(tokens.size() / m_options.block_size);
        for (std::size_t i = 0; i < out.size(); i++) {
            const std::uint64_t word = m_options.how == tracker::hashing::position ? i
                                       : i == 0                                    ? 0
                                                                                   : out[i - 1];
            out[i] = tracker::hash_block(word, {tokens.data() + i * m_options.block_size, m_options.block_size},
                                         seed);
        }
        return out;
    }

    void join(std::uint32_t backend) {
        m_held[backend];
    }

    bool leave(std::uint32_t backend) {
        return m_held.erase(backend) != 0;
    }

    std::optional<std::uint64_t> record(std::uint32_t backend, const prompt& tokens, std::uint64_t seed = 0) {
        const auto held = m_held.find(backend);
        if (held == m_held.end()) {
            return std::nullopt;
        }
        m_epoch++;
        std::uint64_t fresh = 0;
        std::uint32_t position = 0;
        for (const std::uint64_t hash : hashes(tokens, seed)) {
            fresh += held->second.contains(hash) ? 0u : 1u;
            held->second[hash] = {m_epoch, position++};
        }
        const std::uint64_t most = 2 * m_options.max_blocks;
        if (held->second.size() > most) {
            evict(backend, std::max<std::uint64_t>(most, held->second.size() - fresh));
        }
        return fresh;
    }

    std::vector<tracker::tracker_hit> find(const prompt& tokens, std::uint64_t seed = 0) {
        const std::vector<std::uint64_t> blocks = hashes(tokens, seed);
        std::vector<tracker::tracker_hit> found;
        tracker::tracker_hit best;
        for (const auto& [backend, held] : m_held) {
            if (blocks.empty() || !held.contains(blocks[0])) {
                continue;
            }
            std::size_t lo = 0;
            std::size_t hi = blocks.size();
            while (lo < hi) {
                const std::size_t mid = lo + (hi - lo + 1) / 2;
                if (held.contains(blocks[mid - 1])) {
                    lo = mid;
                } else {
                    hi = mid - 1;
                }
            }
            if (lo != 0) {
                found.push_back({backend, static_cast<std::uint32_t>(lo)});
                best = found.back().blocks > best.blocks ? found.back() : best;
            }
        }
        m_epoch++;
        for (std::uint32_t i = 0; i < best.blocks; i++) {
            const auto block = m_held[best.backend].find(blocks[i]);
            if (block != m_held[best.backend].end()) {
                block->second.epoch = m_epoch;
                block->second.position = i;
            }
        }
        return found;
    }

    std::optional<std::uint64_t> evict(std::uint32_t backend, std::uint64_t most) {
        const auto held = m_held.find(backend);
        if (held == m_held.end()) {
            return std::nullopt;
        }
        std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> order;
        for (const auto& [hash, last] : held->second) {
            order.emplace_back(last.epoch, m_order == eviction::naive ? 0 : ~std::uint64_t{last.position},
                               hash);
        }
        std::sort(order.begin(), order.end());
        std::uint64_t evicted = 0;
        while (held->second.size() > most) {
            held->second.erase(std::get<2>(order[evicted++]));
        }
        return evicted;
    }

    bool holds(std::uint32_t backend, std::uint64_t hash) const {
        const auto held = m_held.find(backend);
        return held != m_held.end() && held->second.contains(hash);
    }

    std::uint64_t blocks() const {
        std::uint64_t sum = 0;
        for (const auto& [backend, held] : m_held) {
            sum += held.size();
        }
        return sum;
    }

    std::uint64_t backends() const {
        return m_held.size();
    }

private:
    struct use {
        std::uint64_t epoch = 0;
        std::uint32_t position = 0;
    };

    tracker::tracker_options m_options;
    eviction m_order;
    std::uint64_t m_epoch = 0;
    std::map<std::uint32_t, std::map<std::uint64_t, use>> m_held;
};

} // namespace kvindex::tests
