/// Approximate slots: which core, and who waits for whom.
#include "facade/state.hpp"

namespace kvindex {
namespace {

// Ends under one hold of the writers' mutex: some ten microseconds.
constexpr std::uint32_t ends_per_slice = 256;

} // namespace

std::optional<slot_id> prefix_index::open_approximate_slot(std::uint32_t domain, std::uint16_t name_space) {
    return open(domain, name_space, true);
}

std::optional<std::uint64_t> prefix_index::decide(slot_id slot, std::span<const local_hash> locals,
                                                  std::uint64_t now) {
    const std::lock_guard alone(m_state->writers);
    const std::uint32_t number = number_of(slot);
    const auto& slots = m_state->slots;
    if (number >= slots.size() || !slots[number].open || !slots[number].approximate ||
        slots[number].incarnation != incarnation_of(slot)) {
        return std::nullopt;
    }
    m_state->changes++;
    return m_state->cores[number / slots_per_core]->decide(number % slots_per_core, locals, now);
}

std::uint64_t prefix_index::expire(std::uint64_t now) {
    std::uint64_t all = 0;
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < made; i++) {
        std::uint32_t ended = ends_per_slice;
        while (ended == ends_per_slice) {
            {
                const std::lock_guard alone(m_state->writers);
                ended = m_state->cores[i]->expire(now, ends_per_slice);
                m_state->changes += ended != 0 ? 1 : 0;
            }
            all += ended;
            m_state->writers.let_others();
        }
    }
    return all;
}

} // namespace kvindex
