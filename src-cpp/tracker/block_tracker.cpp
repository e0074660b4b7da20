#include "tracker/block_tracker.hpp"

#include "tracker/backend_blocks.hpp"

#include <algorithm>
#include <mutex>

namespace kvindex::tracker {
namespace {

/// Blocks that are dropped under one hold of a back end's mutex.
constexpr std::uint64_t evicted_at_once = 1024;

/// Back ends searched side by side, so that their cache misses overlap.
constexpr std::size_t side_by_side = 16;

} // namespace

struct block_tracker::member {
    explicit member(slot_id is) : id(is) {
    }

    const slot_id id;
    mutable std::mutex mutex; // guards what follows
    backend_blocks blocks;
    std::uint64_t evicted = 0;
};

/// A few back ends, held while one prompt is searched in all of them. Mutexes are taken by ascending number;
/// every other caller holds one at a time.
class block_tracker::searched {
public:
    void add(const member& m) {
        m_locks[m_count] = std::unique_lock(m.mutex);
        m_members[m_count] = &m;
        m_count++;
    }

    bool full() const {
        return m_count == side_by_side;
    }

    /// Appends what is found to `out` and lets go.
    void search(std::span<const std::uint64_t> hashes, std::vector<tracker_hit>& out) {
        const auto last = static_cast<std::uint32_t>(hashes.size());
        for (std::size_t i = 0; i < m_count; i++) {
            m_members[i]->blocks.prefetch(hashes[0]);
        }
        for (std::size_t i = 0; i < m_count; i++) {
            m_from[i] = 0;
            m_to[i] = m_members[i]->blocks.holds(hashes[0]) ? last : 0;
        }
        for (bool searching = true; searching;) {
            searching = false;
            for (std::size_t i = 0; i < m_count; i++) {
                if (m_from[i] < m_to[i]) {
                    m_members[i]->blocks.prefetch(hashes[middle(i) - 1]);
                }
            }
            for (std::size_t i = 0; i < m_count; i++) {
                if (m_from[i] < m_to[i]) {
                    const std::uint32_t count = middle(i);
                    if (m_members[i]->blocks.holds(hashes[count - 1])) {
                        m_from[i] = count; // contiguous: so the ones before are there, too
                    } else {
                        m_to[i] = count - 1;
                    }
                    searching = true;
                }
            }
        }
        for (std::size_t i = 0; i < m_count; i++) {
            if (m_from[i] != 0) {
                out.push_back({.backend = number_of(m_members[i]->id), .blocks = m_from[i]});
            }
            m_locks[i].unlock();
        }
        m_count = 0;
    }

private:
    std::uint32_t middle(std::size_t i) const {
        return m_from[i] + (m_to[i] - m_from[i] + 1) / 2;
    }

    std::size_t m_count = 0;
    std::array<const member*, side_by_side> m_members{};
    std::array<std::unique_lock<std::mutex>, side_by_side> m_locks;
    std::array<std::uint32_t, side_by_side> m_from{};
    std::array<std::uint32_t, side_by_side> m_to{};
};

block_tracker::block_tracker(const tracker_options& o) : m_options(o) {
}

block_tracker::~block_tracker() = default;

void block_tracker::join(slot_id backend) {
    const std::uint32_t number = number_of(backend);
    auto fresh = std::make_unique<member>(backend);
    const std::unique_lock lock(m_coming_and_going);
    if (number >= m_by_number.size()) {
        m_by_number.resize(number + 1);
    }
    std::unique_ptr<member>& place = m_by_number[number];
    if (place == nullptr || place->id != backend) {
        m_evicted_of_gone += place == nullptr ? 0 : place->evicted;
        place.swap(fresh);
    }
}

bool block_tracker::leave(slot_id backend) {
    std::unique_ptr<member> gone; // its memory is freed when nobody waits for us any more
    const std::unique_lock lock(m_coming_and_going);
    if (of(backend) == nullptr) {
        return false;
    }
    gone.swap(m_by_number[number_of(backend)]);
    m_evicted_of_gone += gone->evicted;
    return true;
}

block_tracker::member* block_tracker::of(slot_id backend) const {
    const std::uint32_t number = number_of(backend);
    member* const there = number < m_by_number.size() ? m_by_number[number].get() : nullptr;
    return there != nullptr && there->id == backend ? there : nullptr;
}

tracker_find block_tracker::find(const std::uint32_t* tokens, std::uint32_t blocks, std::uint64_t seed,
                                 std::span<tracker_hit> out) {
    if (blocks == 0) {
        return {};
    }
    std::vector<std::uint64_t> hashes(blocks);
    hash_prompt(tokens, m_options.block_size, seed, m_options.how, hashes);
    std::vector<tracker_hit> found;
    const std::shared_lock lock(m_coming_and_going);
    searched some;
    for (const auto& m : m_by_number) {
        if (m != nullptr) {
            some.add(*m);
            if (some.full()) {
                some.search(hashes, found);
            }
        }
    }
    some.search(hashes, found);
    if (found.size() > out.size()) {
        return {.fits = false};
    }
    if (found.empty()) {
        return {};
    }
    const auto longest = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.blocks < b.blocks; // the first of equals
    });
    member& best = *m_by_number[longest->backend];
    {
        const std::unique_lock held(best.mutex);
        best.blocks.touch({hashes.data(), longest->blocks});
    }
    std::copy(found.begin(), found.end(), out.begin());
    return {.hits = static_cast<std::uint32_t>(found.size())};
}

std::optional<std::uint64_t> block_tracker::record(slot_id backend, const std::uint32_t* tokens,
                                                   std::uint32_t blocks, std::uint64_t seed) {
    std::vector<std::uint64_t> hashes(blocks);
    hash_prompt(tokens, m_options.block_size, seed, m_options.how, hashes);
    const std::shared_lock lock(m_coming_and_going);
    member* const to = of(backend);
    if (to == nullptr) {
        return std::nullopt;
    }
    const std::unique_lock held(to->mutex);
    const std::uint64_t fresh = to->blocks.record(hashes);
    // Between two evictions a back end may grow, but not without end. Each block that is dropped was added.
    to->evicted += to->blocks.evict(2 * m_options.max_blocks, fresh);
    return fresh;
}

std::optional<std::uint64_t> block_tracker::evict(slot_id backend, std::uint64_t most) {
    const std::shared_lock lock(m_coming_and_going);
    member* const from = of(backend);
    if (from == nullptr) {
        return std::nullopt;
    }
    return evict(*from, most);
}

std::uint64_t block_tracker::evict(member& m, std::uint64_t most) {
    std::uint64_t evicted = 0;
    for (std::uint64_t now = evicted_at_once; now == evicted_at_once;) {
        const std::unique_lock held(m.mutex);
        now = m.blocks.evict(most, evicted_at_once);
        m.evicted += now;
        evicted += now;
    }
    return evicted;
}

std::uint64_t block_tracker::evict_all() {
    std::uint64_t evicted = 0;
    const std::shared_lock lock(m_coming_and_going);
    for (const auto& m : m_by_number) {
        evicted += m == nullptr ? 0 : evict(*m, m_options.max_blocks);
    }
    return evicted;
}

tracker_statistics block_tracker::stats() const {
    const std::shared_lock lock(m_coming_and_going);
    tracker_statistics sum{.evicted = m_evicted_of_gone};
    for (const auto& m : m_by_number) {
        if (m != nullptr) {
            const std::unique_lock held(m->mutex);
            sum.backends++;
            sum.blocks += m->blocks.size();
            sum.bytes += sizeof(member) + m->blocks.bytes();
            sum.evicted += m->evicted;
        }
    }
    return sum;
}

const char* block_tracker::first_broken_invariant() const {
    const std::shared_lock lock(m_coming_and_going);
    for (const auto& m : m_by_number) {
        if (m != nullptr) {
            const std::unique_lock held(m->mutex);
            if (const char* broken = m->blocks.first_broken_invariant(); *broken != 0) {
                return broken;
            }
        }
    }
    return "";
}

bool block_tracker::holds(slot_id backend, std::uint64_t hash) const {
    const std::shared_lock lock(m_coming_and_going);
    const member* const m = of(backend);
    if (m == nullptr) {
        return false;
    }
    const std::unique_lock held(m->mutex);
    return m->blocks.holds(hash);
}

} // namespace kvindex::tracker
