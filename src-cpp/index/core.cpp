#include "index/core.hpp"

namespace kvindex::index {

core::core(const limits& l, std::uint64_t orphan_limit, const decision_limits& d)
    : m_memory(l), m_holders(m_memory), m_names(m_memory, m_holders),
      m_content(m_memory, m_holders, m_names, l), m_decisions(m_memory, m_holders, m_content, d),
      m_orphans(m_account, orphan_limit), m_view(m_memory, m_holders), m_budget(l.byte_budget) {
}

void core::open_slot(std::uint32_t slot, std::uint32_t domain, std::uint32_t name_space) {
    m_open[slot] = true;
    m_slots++;
    m_space[slot] = name_space;
    m_names.set_domain(slot, domain);
    m_holders.expect_slot(slot);
    m_view.show(slot);
}

void core::close_slot(std::uint32_t slot) {
    m_view.hide(slot);
    clear(slot, all_tiers);
    m_decisions.close_slot(slot);
    m_open[slot] = false;
    m_slots--;
    tidy();
}

/// The first name that the event looks for.
static const engine_hash* sought(const event& e) {
    if (const auto* s = std::get_if<stored_event>(&e)) {
        return s->has_parent ? &s->parent : &s->names[0];
    }
    const auto* r = std::get_if<removed_event>(&e);
    return r != nullptr && !r->names.empty() ? &r->names[0] : nullptr;
}

void core::apply(std::span<const event> events, applied_counts& counts) {
    if (events.size() == 1) { // nothing to look ahead to but its own new names, past the parent's
        look_for_room(events[0], {});
        apply_and_tidy(events[0], counts);
        tidy_if_due();
        return;
    }
    const std::size_t n = events.size();
    for (std::size_t step = 0; step < n + look_ahead::first; step++) {
        // Index of the event that is `distance` before its turn; not below n when there is none.
        const auto at = [&](std::size_t distance) { return step + distance - look_ahead::first; };
        if (const std::size_t i = at(look_ahead::first); i < n) {
            look_for_name(events[i], m_ahead[i % look_ahead::first]);
        }
        if (const std::size_t i = at(look_ahead::line); i < n) {
            glimpse& g = m_ahead[i % look_ahead::first];
            g.number = g.name == 0 ? 0 : m_names.prefetch_line(g.name);
        }
        if (const std::size_t i = at(look_ahead::run); i < n) {
            glimpse& g = m_ahead[i % look_ahead::first];
            g.where = m_names.prefetch_run(g.number);
        }
        if (const std::size_t i = at(look_ahead::parts); i < n) {
            m_names.prefetch_parts(m_ahead[i % look_ahead::first].where);
        }
        if (const std::size_t i = at(look_ahead::names); i < n) {
            look_for_room(events[i], m_ahead[i % look_ahead::first]);
        }
        if (step >= look_ahead::first) {
            apply_and_tidy(events[step - look_ahead::first], counts);
        }
    }
    tidy_if_due();
}

void core::look_for_name(const event& e, glimpse& g) {
    g = {};
    if (const engine_hash* name = sought(e)) {
        g.name = m_names.prefetch(number_of(slot_of(e)), *name);
    }
    if (const auto* s = std::get_if<stored_event>(&e); s != nullptr && !s->has_parent) {
        m_memory.children.prefetch({storage::root_run, m_space[number_of(s->slot) % storage::core_slots]},
                                   s->locals[0]);
    }
}

void core::look_for_room(const event& e, const glimpse& g) const {
    constexpr std::size_t most = 16; // names::introduce() asks for the rest
    if (const auto* s = std::get_if<stored_event>(&e)) {
        for (std::size_t k = 0; k < std::min(s->names.size(), most); k++) {
            m_names.prefetch_room(number_of(s->slot), s->names[k]);
        }
    } else if (const auto* r = std::get_if<removed_event>(&e)) {
        m_names.prefetch_lines(g.where, r->names.size());
    }
}

void core::apply_and_tidy(const event& e, applied_counts& counts) {
    counts += apply_one(e);
    if (++m_since_tidy >= 64) {
        tidy();
    }
}

/// At the end of a call: most calls are single events with nothing to tidy, and looking at the readers' pins
/// costs as much as such an event.
void core::tidy_if_due() {
    if (m_budget != 0 || m_content.keeps_too_many() || m_memory.reclaim.waiting() != 0) {
        tidy();
    }
}

void core::tidy() {
    m_since_tidy = 0;
    m_content.reap();
    m_memory.reclaim.collect([&](std::uint32_t run) { m_content.give_number_back(run); });
    if (m_budget != 0) {
        keep_to_budget();
    }
}

void core::keep_to_budget() {
    m_full = bytes_in_use() > m_budget;
    if (m_full) {
        m_content.reap_all();
        m_full = bytes_in_use() > m_budget;
    }
    if (m_full && !m_orphans.empty()) {
        m_orphans.give_up_all();
        m_full = bytes_in_use() > m_budget;
    }
}

std::uint64_t core::bytes_in_use() const {
    return m_account.bytes() + m_decisions.bytes() + m_content.run_bytes_in_use() +
           m_names.line_bytes_in_use() + m_holders.bytes() + m_memory.content.bytes_in_use() +
           m_memory.lists.bytes_in_use() + m_memory.covers.bytes_in_use() + m_memory.name_table.bytes_in_use() +
           m_memory.child_lines.bytes_in_use();
}

applied_counts core::apply_one(const event& e) {
    const std::uint32_t slot = number_of(slot_of(e));
    if (slot >= storage::core_slots || !m_open[slot]) {
        return {.ignored = 1};
    }
    if (m_decisions.is_approximate(slot) && !std::holds_alternative<cleared_event>(e)) {
        return {.ignored = 1};
    }
    m_memory.names.begin_step();
    if (m_orphans.first_ready() != nullptr) {
        apply_ready(); // an event before this one ran out of memory here
    }
    if (const auto* stored = std::get_if<stored_event>(&e)) {
        return store(*stored);
    }
    if (const auto* removed = std::get_if<removed_event>(&e)) {
        return remove(*removed);
    }
    clear(slot, std::get<cleared_event>(e).tiers);
    return {.applied = 1};
}

applied_counts core::store(const stored_event& e) {
    const std::uint32_t slot = number_of(e.slot);
    place at{storage::root_run, m_space[slot]};
    if (e.has_parent) {
        const auto parent = m_names.find(slot, e.parent);
        if (!parent || m_names.held_as(slot, e.parent, *parent) == 0) {
            m_orphans.park(e);
            return {.orphans = 1};
        }
        at = parent->at;
    }
    static_cast<void>(lay(slot, e.where, at, e.names, e.locals)); // refused blocks are counted
    if (!m_orphans.empty()) {
        for (const engine_hash name : e.names) {
            m_orphans.wake(e.slot, name);
        }
        apply_ready();
    }
    return {.applied = 1};
}

/// Lays the content behind `at` and lets the slot hold it under `names`, or only lays it when there are none.
/// Moves `at` to the last place. False: the rest is refused for want of budget.
bool core::lay(std::uint32_t slot, tier where, place& at, std::span<const engine_hash> names,
               std::span<const local_hash> locals) {
    std::size_t i = 0;
    while (i < locals.size()) {
        const laid_blocks laid = m_content.lay(at, locals.subspan(i), m_names.domain_of(slot), !m_full);
        if (laid.count == 0) {
            m_refused += locals.size() - i; // what hangs behind them will wait for its parent in vain
            return false;
        }
        try {
            if (!names.empty()) {
                hold(slot, where, laid, names.subspan(i, laid.count));
            }
        } catch (...) {
            review_changed(laid.first.run);
            throw;
        }
        review_changed(laid.first.run);
        at = {laid.first.run, laid.first.offset + laid.count - 1};
        i += laid.count;
    }
    return true;
}

void core::hold(std::uint32_t slot, tier where, const laid_blocks& blocks, std::span<const engine_hash> names) {
    place at = blocks.first;
    const std::uint32_t run = at.run;
    while (!names.empty()) {
        std::uint32_t easy = blocks.fresh ? 0 : m_names.usual(slot, at, names);
        if (easy == 0) { // new, known to other domains only, or laid by what has no names
            easy = m_names.introduce(slot, at, names);
        }
        if (easy == 0 && !blocks.fresh) {
            easy = m_names.introduce_own(slot, at, names);
        }
        if (easy != 0) {
            m_holders.change(run, slot, at.offset, at.offset + easy, where, true);
        }
        if (easy < names.size()) {
            m_names.hold(slot, names[easy], {run, at.offset + easy}, where);
            easy++;
        }
        at.offset += easy;
        names = names.subspan(easy);
    }
}

/// After hold(), whether it came to its end or not.
void core::review_changed(std::uint32_t run) noexcept {
    m_content.review(run);
    for (const std::uint32_t lighter : m_names.lightened) {
        m_content.review(lighter);
    }
    m_names.lightened.clear();
}

void core::apply_ready() {
    while (orphan* o = m_orphans.first_ready()) {
        const std::uint32_t slot = number_of(o->slot);
        const auto parent = m_names.find(slot, o->parent);
        if (!parent || m_names.held_as(slot, o->parent, *parent) == 0) {
            m_orphans.postpone(); // only when memory ran out while the parent moved: it is at neither place
            continue;
        }
        // A struck block is not stored, but its content is laid: those behind it stay behind it.
        place at = parent->at;
        std::size_t i = 0;
        while (i < o->blocks.size()) {
            const bool struck = o->blocks[i].struck;
            std::size_t end = i;
            m_scratch.clear();
            while (end < o->blocks.size() && o->blocks[end].struck == struck) {
                if (!struck) {
                    m_scratch.push_back(o->blocks[end].name);
                }
                end++;
            }
            if (!lay(slot, o->where, at, m_scratch, {o->locals.data() + i, end - i})) {
                break;
            }
            i = end;
        }
        for (const orphan_block& b : o->blocks) {
            if (!b.struck) {
                m_orphans.wake(o->slot, b.name);
            }
        }
        m_orphans.settle();
    }
}

applied_counts core::remove(const removed_event& e) {
    const std::uint32_t slot = number_of(e.slot);
    applied_counts counts{.applied = 1};
    std::span<const engine_hash> left = e.names;
    while (!left.empty()) {
        const bool waited = !m_orphans.empty() && m_orphans.strike(e.slot, e.where, left[0]);
        const auto found = m_names.find(slot, left[0]);
        if (!found) {
            counts.unknown_removed += waited ? 0 : 1;
            left = left.subspan(1);
            continue;
        }
        // Engines evict from the end of a chain, or from its start: then a whole eviction is one change.
        const std::uint32_t run = found->at.run;
        std::uint32_t begin = found->at.offset;
        std::uint32_t end = begin + 1;
        std::uint32_t count = 1;
        if (left.size() > 1 && !waited && m_orphans.empty()) {
            count = std::max(1u, m_names.usual_backwards(slot, found->at, left));
            begin = found->at.offset + 1 - count;
            if (count == 1) {
                count = std::max(1u, m_names.usual(slot, found->at, left));
                end = begin + count;
            }
        }
        if (count > 1) {
            const residency_change done = m_holders.change(run, slot, begin, end, e.where, false);
            counts.unknown_removed += count - done.touched;
        } else if ((m_names.held_as(slot, left[0], *found) & mask_of(e.where)) != 0) {
            m_names.drop(slot, left[0], *found, e.where);
        } else {
            counts.unknown_removed += waited ? 0 : 1;
        }
        m_content.review(run);
        left = left.subspan(count);
    }
    return counts;
}

/// Of all tiers: needs no memory.
void core::clear(std::uint32_t slot, tier_mask tiers) {
    const bool approximate = m_decisions.is_approximate(slot);
    if (approximate && (tiers & mask_of(tier::gpu)) == 0) {
        return; // decisions speak of GPU memory
    }
    std::vector<std::uint32_t>& runs = m_holders.runs_of(slot);
    const auto free_of_it = [&](std::uint32_t run) {
        return !m_memory.colds[run].live || m_holders.word_of(run, slot) == storage::holder::none;
    };
    const auto forget = [&](std::uint32_t run, tier_mask some) {
        if (approximate) {
            m_decisions.forget(run, slot);
        }
        m_holders.forget(run, slot, some);
        m_names.forget(run, slot, some);
        m_content.review(run);
    };
    for (const std::uint32_t run : runs) {
        if (free_of_it(run)) {
            continue;
        }
        if (tiers == all_tiers) {
            forget(run, all_tiers);
            continue;
        }
        for (std::uint32_t t = 0; t < tier_count; t++) {
            if (count_in(tiers, t) != 0) {
                forget(run, static_cast<tier_mask>(1u << t));
            }
        }
    }
    std::erase_if(runs, free_of_it);
    if (runs.empty()) {
        std::vector<std::uint32_t>().swap(runs);
    }
    m_orphans.clear(slot_id{slot}, tiers);
}

statistics core::stats() const {
    statistics s;
    s.slots = m_slots;
    s.blocks = m_content.blocks();
    s.ghosts = m_content.ghosts();
    s.residencies = m_holders.residencies();
    s.runs = m_content.runs();
    s.orphans = m_orphans.blocks();
    s.bytes = m_account.bytes() + m_decisions.bytes() + m_content.run_bytes() + m_names.line_bytes() +
              m_holders.bytes() + m_memory.content.bytes() + m_memory.lists.bytes() + m_memory.covers.bytes() +
              m_memory.name_table.bytes() + m_memory.child_lines.bytes();
    s.bytes_in_use = bytes_in_use();
    s.refused = m_refused;
    s.moves = m_names.moves;
    s.conflicts = m_names.conflicts;
    s.orphans_given_up = m_orphans.given_up();
    s.decisions = m_decisions.alive();
    s.decisions_ended_by_time = m_decisions.ended_by_time();
    s.decisions_ended_by_capacity = m_decisions.ended_by_capacity();
    return s;
}

} // namespace kvindex::index
