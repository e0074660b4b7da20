/// Adds threads to the index: who waits for whom is decided here and in sync/.
#include "kvindex/prefix_index.hpp"

#include "base/hashing.hpp"
#include "index/tree_index.hpp"
#include "sync/guarded.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace kvindex {
namespace {

// Readers wait at most for about this many blocks of a buffer, some tens of microseconds, unless one event is
// longer.
constexpr std::size_t blocks_per_turn = 1024;

// match_tokens() hashes this many blocks before it looks for the first time, then doubles: what is hashed in
// vain is at most as much again as what is held.
constexpr std::size_t first_step = 64;

std::size_t weight(const event& e) {
    if (const auto* stored = std::get_if<stored_event>(&e)) {
        return stored->names.size();
    }
    const auto* removed = std::get_if<removed_event>(&e);
    return removed != nullptr ? removed->names.size() : blocks_per_turn;
}

} // namespace

struct prefix_index::state {
    explicit state(std::uint64_t orphan_limit) : tree(account, orphan_limit) {
    }

    memory_account account; // changed under tree's write side only
    sync::guarded<index::tree_index> tree;
    std::mutex writers; // held over a whole buffer, taken before tree
};

prefix_index::prefix_index(std::uint64_t orphan_limit)
    : m_state(std::make_unique<state>(orphan_limit == 0 ? default_orphan_limit : orphan_limit)) {
}

prefix_index::~prefix_index() = default;

std::optional<slot_id> prefix_index::open_slot(std::uint64_t worker, std::uint32_t dp_rank) {
    const std::lock_guard alone(m_state->writers);
    return m_state->tree.write([&](auto& tree) { return tree.open_slot(worker, dp_rank); });
}

bool prefix_index::close_slot(slot_id slot) {
    const std::lock_guard alone(m_state->writers);
    return m_state->tree.write([&](auto& tree) { return tree.close_slot(slot); });
}

applied_counts prefix_index::apply(std::span<const event> events) {
    const std::lock_guard alone(m_state->writers);
    applied_counts counts;
    while (!events.empty()) {
        std::size_t take = 0;
        std::size_t blocks = 0;
        while (take < events.size() && (take == 0 || blocks < blocks_per_turn)) {
            blocks += weight(events[take++]);
        }
        m_state->tree.write([&](auto& tree) {
            for (const event& e : events.first(take)) {
                counts += tree.apply(e);
            }
        });
        events = events.subspan(take);
    }
    return counts;
}

match_result prefix_index::match(std::span<const local_hash> locals, std::span<hit> out) const {
    return m_state->tree.read([&](const auto& tree) { return tree.match(locals, out); });
}

match_result prefix_index::match_tokens(const std::uint32_t* tokens, std::uint32_t blocks,
                                        std::uint32_t block_size, std::uint64_t seed,
                                        std::span<hit> out) const {
    std::vector<local_hash> locals;
    std::size_t step = first_step;
    match_result result;
    while (locals.size() < blocks) {
        const std::size_t done = locals.size();
        locals.resize(std::min<std::size_t>(blocks, done + step));
        hash_blocks(tokens + done * block_size, block_size, seed, std::span(locals).subspan(done));
        step = locals.size();
        // From the start again: the answer is of one instant, whatever was applied meanwhile.
        result = match(locals, out);
        if (!result.fits || result.walked < locals.size()) {
            break;
        }
    }
    return result;
}

statistics prefix_index::stats() const {
    return m_state->tree.read([](const auto& tree) { return tree.stats(); });
}

std::string prefix_index::first_broken_invariant() const {
    return m_state->tree.read([](const auto& tree) { return tree.first_broken_invariant(); });
}

void prefix_index::fail_allocation(std::uint64_t n) {
    m_state->tree.write([&](auto&) { m_state->account.fail_at(n); });
}

} // namespace kvindex
