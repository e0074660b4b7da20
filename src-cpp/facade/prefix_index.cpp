/// Adds threads and many slots to the index cores: who waits for whom is decided here and in sync/.
#include "facade/state.hpp"

#include "base/hashing.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace kvindex {
namespace {

// match_tokens() hashes this many blocks before it looks for the first time, then doubles: what is hashed in
// vain is at most as much again as what is held.
constexpr std::size_t first_step = 64;

/// Buffers of one thread, for answers that go through dense rows.
struct scratch {
    std::vector<std::uint32_t> depths;
    std::vector<local_hash> locals;
};

scratch& my_scratch() {
    static thread_local scratch mine;
    return mine;
}

/// Room for the hashes of a prompt. An unusually long one's is not kept for ever: the next shorter one gives it
/// back.
std::vector<local_hash>& room_for(std::uint32_t blocks) {
    constexpr std::size_t kept = 1u << 17; // hashes, 1 MiB
    std::vector<local_hash>& locals = my_scratch().locals;
    if (locals.size() > kept && blocks <= kept) {
        locals = {};
    }
    if (locals.size() < blocks) {
        locals.resize(blocks);
    }
    return locals;
}

} // namespace

prefix_index::prefix_index(const options& o) : m_state(std::make_unique<state>(o)) {
}

prefix_index::~prefix_index() = default;

std::optional<slot_id> prefix_index::open_slot(std::uint32_t domain, std::uint16_t name_space) {
    return open(domain, name_space, false);
}

std::optional<slot_id> prefix_index::open(std::uint32_t domain, std::uint16_t name_space, bool approximate) {
    const std::lock_guard alone(m_state->writers);
    auto& slots = m_state->slots;
    std::uint32_t number = 0;
    while (number < slots.size() && slots[number].open) {
        number++;
    }
    if (number == max_slots) {
        return std::nullopt;
    }
    if (number == slots.size()) {
        if (number / slots_per_core == m_state->cores_made.load(std::memory_order_relaxed)) {
            m_state->add_core();
        }
        slots.emplace_back();
    }
    slots[number].open = true;
    slots[number].domain = domain;
    slots[number].name_space = name_space;
    slots[number].approximate = approximate;
    m_state->changes++;
    index::core& core = *m_state->cores[number / slots_per_core];
    if (approximate) {
        core.open_approximate_slot(number % slots_per_core, domain, name_space);
    } else {
        core.open_slot(number % slots_per_core, domain, name_space);
    }
    return slot_id{slots[number].incarnation << slot_number_bits | number};
}

bool prefix_index::close_slot(slot_id slot) {
    const std::lock_guard alone(m_state->writers);
    const std::uint32_t number = number_of(slot);
    auto& slots = m_state->slots;
    if (number >= slots.size() || !slots[number].open || slots[number].incarnation != incarnation_of(slot)) {
        return false;
    }
    m_state->changes++;
    m_state->cores[number / slots_per_core]->close_slot(number % slots_per_core);
    slots[number].open = false;
    slots[number].incarnation = (slots[number].incarnation + 1) & (0xffffffffu >> slot_number_bits);
    return true;
}

applied_counts prefix_index::apply(std::span<const event> events) {
    const std::lock_guard alone(m_state->writers);
    m_state->changes++;
    const auto& slots = m_state->slots;
    applied_counts counts;
    std::vector<event> part; // consecutive events of one core, with its own slot numbers
    std::size_t i = 0;
    while (i < events.size()) {
        const auto current = [&](slot_id s) {
            return number_of(s) < slots.size() && slots[number_of(s)].open &&
                   slots[number_of(s)].incarnation == incarnation_of(s);
        };
        const slot_id first = slot_of(events[i]);
        if (!current(first)) {
            counts.ignored++;
            i++;
            continue;
        }
        const std::uint32_t core = number_of(first) / slots_per_core;
        std::size_t end = i + 1;
        bool as_they_are = number_of(first) == static_cast<std::uint32_t>(first) && core == 0;
        while (end < events.size() && current(slot_of(events[end])) &&
               number_of(slot_of(events[end])) / slots_per_core == core) {
            as_they_are = as_they_are && incarnation_of(slot_of(events[end])) == 0;
            end++;
        }
        if (as_they_are) {
            m_state->cores[core]->apply(events.subspan(i, end - i), counts);
        } else {
            part.assign(events.begin() + static_cast<std::ptrdiff_t>(i),
                        events.begin() + static_cast<std::ptrdiff_t>(end));
            for (event& e : part) {
                std::visit([](auto& kind) { kind.slot = slot_id{number_of(kind.slot) % slots_per_core}; }, e);
            }
            m_state->cores[core]->apply(part, counts);
        }
        i = end;
    }
    return counts;
}

std::uint32_t prefix_index::slot_bound() const {
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_acquire);
    const std::uint32_t last = m_state->cores[made - 1]->view().shown();
    return (made - 1) * slots_per_core + (last + 63) / 64 * 64;
}

std::uint32_t prefix_index::slot_blocks(std::span<tier_blocks> out) const {
    const std::uint32_t bound = slot_bound(); // its acquire load makes the cores below it visible
    if (bound > out.size()) {
        return bound;
    }
    for (std::uint32_t number = 0; number < bound; number++) {
        const index::reader_view& view = m_state->cores[number / slots_per_core]->view();
        for (std::uint32_t t = 0; t < tier_count; t++) {
            out[number][t] = view.blocks_in(number % slots_per_core, t);
        }
    }
    return bound;
}

std::uint32_t prefix_index::match_dense(std::uint16_t name_space, std::span<const local_hash> locals,
                                        std::uint32_t tiers, std::uint32_t* depth, std::uint32_t stride) const {
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_acquire);
    std::uint32_t walked = 0;
    for (std::uint32_t i = 0; i < made && i * slots_per_core < stride; i++) {
        const index::reader_view& view = m_state->cores[i]->view();
        const sync::epoch_domain<>::pin pin(view.epochs());
        const std::uint32_t columns = std::min(stride - i * slots_per_core, slots_per_core);
        index::look_up asked{.name_space = name_space,
                             .count = static_cast<std::uint32_t>(locals.size()),
                             .locals = locals.data(),
                             .budget = m_state->made_with.query_budget};
        bool flat;
        do { // twice when the first block goes to a lower tier meanwhile, see reader_view::tiered()
            flat = tiers == 1 || !view.tiered();
            asked.out = {depth + i * slots_per_core, stride, columns, flat ? 1 : tier_count};
            view.walk(asked);
        } while (flat && tiers > 1 && view.tiered());
        walked = std::max(walked, asked.walked);
        if (flat && tiers > 1) {
            const std::uint32_t slots = std::min((view.shown() + 63) / 64 * 64, columns);
            for (std::uint32_t t = 1; t < tiers; t++) {
                std::copy_n(asked.out.depth, slots, asked.out.depth + t * stride);
            }
        }
    }
    return walked;
}

match_result prefix_index::match(std::uint16_t name_space, std::span<const local_hash> locals,
                                 std::span<hit> out) const {
    const std::uint32_t bound = slot_bound();
    std::vector<std::uint32_t>& depths = my_scratch().depths;
    if (depths.size() < std::size_t{bound} * tier_count) {
        depths.resize(std::size_t{bound} * tier_count);
    }
    match_result result;
    result.walked = match_dense(name_space, locals, tier_count, depths.data(), bound);
    const std::uint32_t* any = depths.data() + (tier_count - 1) * bound;
    // Too many are refused before the first one is written.
    if (static_cast<std::size_t>(bound - std::count(any, any + bound, 0u)) > out.size()) {
        return {.fits = false};
    }
    for (std::uint32_t slot = 0; slot < bound; slot++) {
        if (any[slot] == 0) {
            continue;
        }
        hit& h = out[result.hits++];
        h.slot = slot;
        for (std::uint32_t t = 0; t < tier_count; t++) {
            h.depth[t] = depths[t * bound + slot];
        }
    }
    return result;
}

match_result prefix_index::match_tokens(std::uint16_t name_space, const std::uint32_t* tokens,
                                        std::uint32_t blocks, std::uint32_t block_size, std::uint64_t seed,
                                        std::span<hit> out) const {
    std::vector<local_hash>& locals = room_for(blocks);
    std::size_t hashed = 0;
    match_result result;
    while (hashed < blocks) {
        const std::size_t upto = std::min<std::size_t>(blocks, hashed + std::max(first_step, hashed));
        hash_blocks(tokens + hashed * block_size, block_size, seed,
                    std::span(locals).subspan(hashed, upto - hashed));
        hashed = upto;
        result = match(name_space, std::span(locals).first(hashed), out);
        if (!result.fits || result.walked < hashed) {
            break;
        }
    }
    return result;
}

match_result prefix_index::match_tokens(std::uint16_t name_space, const std::uint32_t* tokens,
                                        std::uint32_t block_size, std::uint64_t seed, std::span<hit> out,
                                        std::span<std::uint64_t> sequence) const {
    const auto blocks = static_cast<std::uint32_t>(sequence.size());
    const std::span<local_hash> locals = std::span(room_for(blocks)).first(blocks);
    hash_blocks(tokens, block_size, seed, locals);
    const match_result result = match(name_space, locals, out);
    if (result.fits) {
        chain_hashes(locals, sequence);
    }
    return result;
}

statistics prefix_index::stats() const {
    const std::lock_guard alone(m_state->writers);
    statistics sum;
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < made; i++) {
        sum += m_state->cores[i]->stats();
    }
    return sum;
}

std::string prefix_index::first_broken_invariant() const {
    const std::lock_guard alone(m_state->writers);
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < made; i++) {
        std::string broken = m_state->cores[i]->first_broken_invariant();
        if (!broken.empty()) {
            return "core " + std::to_string(i) + ": " + broken;
        }
    }
    return {};
}

} // namespace kvindex
