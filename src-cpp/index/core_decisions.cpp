/// The core's calls about approximate slots.
#include "index/core.hpp"

namespace kvindex::index {

namespace {

// More than one, so that what is due does not pile up when nobody calls expire().
constexpr std::uint32_t ends_per_decision = 16;

} // namespace

void core::open_approximate_slot(std::uint32_t slot, std::uint32_t domain, std::uint32_t name_space) {
    open_slot(slot, domain, name_space);
    m_decisions.open_slot(slot);
}

std::uint64_t core::decide(std::uint32_t slot, std::span<const local_hash> locals, std::uint64_t now) {
    m_decisions.end_due(now, ends_per_decision);
    m_decisions.begin(now);
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(locals.size(), m_decisions.capacity()));
    m_refused += locals.size() - most;
    place at{storage::root_run, m_space[slot]};
    std::uint64_t fresh = 0;
    for (std::size_t i = 0; i < most;) {
        const laid_blocks laid =
            m_content.lay(at, locals.subspan(i, most - i), m_names.domain_of(slot), !m_full);
        if (laid.count == 0) {
            m_refused += most - i;
            break;
        }
        fresh += m_decisions.hold(slot, laid);
        at = {laid.first.run, laid.first.offset + laid.count - 1};
        i += laid.count;
    }
    m_decisions.keep_to_capacity();
    tidy_if_due();
    return fresh;
}

std::uint32_t core::expire(std::uint64_t now, std::uint32_t most) {
    const std::uint32_t ended = m_decisions.end_due(now, most);
    tidy_if_due();
    return ended;
}

} // namespace kvindex::index
