#include "index/decisions.hpp"

namespace kvindex::index {

decisions::decisions(memory& m, holders& h, content& c, const decision_limits& l)
    : m_memory(m), m_holders(h), m_content(c), m_limits(l) {
    m_staircases.reserve(parts);
    for (std::uint32_t i = 0; i < parts; i++) {
        m_staircases.emplace_back(m_account);
    }
}

std::uint32_t decisions::hold(std::uint32_t slot, const laid_blocks& blocks) {
    const std::uint32_t run = blocks.first.run;
    const std::uint32_t end = blocks.first.offset + blocks.count;
    std::uint32_t fresh = 0;
    try {
        reserve(run, slot);
        fresh = m_holders.change(run, slot, blocks.first.offset, end, tier::gpu, true).touched;
    } catch (...) {
        m_content.review(run); // what was laid is kept for nobody
        throw;
    }
    m_held += fresh;
    m_content.review(run);
    note(run, slot, end);
    return fresh;
}

/// Room for one more mark there. The only step of taking one down that may fail.
void decisions::reserve(std::uint32_t run, std::uint32_t slot) {
    if (m_free == 0 && m_top == m_chunks.size() * std::size_t{marks_per_chunk} + (m_chunks.empty() ? 1 : 0)) {
        if (m_top >= most_marks) {
            throw std::bad_alloc();
        }
        m_chunks.emplace_back(marks_per_chunk, mark{}, tracked_allocator<mark>(m_account));
    }
    stairs_near(run, slot).reserve(1);
}

/// The mark of the decision's next run: the youngest there, without a cut yet.
void decisions::add_mark(std::uint32_t run, std::uint32_t slot) noexcept {
    std::uint32_t made = m_free;
    if (made != 0) {
        m_free = at(made).after;
    } else {
        made = m_top++;
    }
    mark& m = at(made);
    m = mark{.run = run, .slot = static_cast<std::uint16_t>(slot), .is_end = 1, .time = m_now};
    // Before the mark of the run above it: a decision ends from its last run upwards.
    m.after = m_current;
    m.before = m_current == 0 ? m_last : at(m_current).before;
    (m.before == 0 ? m_first : at(m.before).after) = made;
    (m.after == 0 ? m_last : at(m.after).before) = made;
    if (m_current == 0) {
        m_alive++;
    } else {
        at(m_current).is_end = 0;
    }
    staircases& part = stairs_near(run, slot);
    if (staircase* s = part.find({run, slot})) {
        m.longer = s->youngest;
        at(s->youngest).shorter = made;
        s->youngest = made;
    } else {
        part.insert({run, slot, made, made});
    }
    m_current = made;
}

/// The decision reaches [0, cut) of the run. Older ones that reach no further there say nothing any more.
void decisions::note(std::uint32_t run, std::uint32_t slot, std::uint32_t cut) noexcept {
    if (m_current == 0 || at(m_current).run != run) {
        add_mark(run, slot);
    }
    at(m_current).cut = static_cast<std::uint16_t>(cut & 0x7fff);
    while (at(m_current).longer != 0 && at(at(m_current).longer).cut <= cut) {
        drop(at(m_current).longer);
    }
}

void decisions::drop(std::uint32_t number) noexcept {
    mark& m = at(number);
    (m.before == 0 ? m_first : at(m.before).after) = m.after;
    (m.after == 0 ? m_last : at(m.after).before) = m.before;
    if (m.longer == 0 || m.shorter == 0) {
        staircases& part = stairs_near(m.run, m.slot);
        staircase* s = part.find({m.run, m.slot});
        if (m.longer == 0 && m.shorter == 0) {
            part.erase(s);
            part.shrink();
        } else if (m.longer == 0) {
            s->oldest = m.shorter;
        } else {
            s->youngest = m.longer;
        }
    }
    if (m.longer != 0) {
        at(m.longer).shorter = m.shorter;
    }
    if (m.shorter != 0) {
        at(m.shorter).longer = m.longer;
    }
    m_alive -= m.is_end;
    m_current = number == m_current ? 0 : m_current;
    m.after = m_free;
    m_free = number;
    if (m_first == 0) { // nothing is left: the memory may go
        m_chunks.clear();
        m_free = 0;
        m_top = 1;
    }
}

/// The oldest decision's marks are the longest of their staircases, so what the slot holds of each run falls to
/// what the next one says.
void decisions::end_oldest() {
    bool more = true;
    while (more) {
        const mark m = at(m_first);
        const std::uint32_t left = m.shorter == 0 ? 0 : at(m.shorter).cut;
        const residency_change done = m_holders.change(m.run, m.slot, left, m.cut, tier::gpu, false);
        m_held -= done.touched;
        m_content.review(m.run);
        drop(m_first);
        more = m_first != 0 && at(m_first).is_end == 0;
    }
}

std::uint32_t decisions::end_due(std::uint64_t now, std::uint32_t most) {
    m_now = now > m_now ? now : m_now;
    std::uint32_t ended = 0;
    while (ended < most && m_first != 0 && m_now - at(m_first).time >= m_limits.ttl) {
        end_oldest();
        ended++;
        m_ended_by_time++;
    }
    return ended;
}

void decisions::keep_to_capacity() {
    while (m_held > m_limits.capacity) {
        end_oldest();
        m_ended_by_capacity++;
    }
}

void decisions::forget(std::uint32_t run, std::uint32_t slot) {
    while (const staircase* s = stairs_near(run, slot).find({run, slot})) {
        const std::uint32_t oldest = s->oldest;
        const std::uint32_t shorter = at(oldest).shorter;
        m_held -= at(oldest).cut - (shorter == 0 ? 0u : at(shorter).cut);
        drop(oldest);
    }
}

} // namespace kvindex::index
