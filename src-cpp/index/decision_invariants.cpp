/// Checks of the decisions against themselves and against what the slots hold, for tests.
#include "index/decisions.hpp"

#include <sstream>

namespace kvindex::index {

std::string decisions::first_broken_invariant() const {
    std::string broken;
    const auto expect = [&](bool holds, const auto&... words) {
        if (!holds && broken.empty()) {
            std::ostringstream text;
            (text << ... << words);
            broken = text.str();
        }
    };
    std::uint64_t marks = 0;
    std::uint64_t ends = 0;
    std::uint32_t previous = 0;
    for (std::uint32_t i = m_first; i != 0; previous = i, i = at(i).after) {
        const mark& m = at(i);
        const storage::run_head& h = m_memory.heads[m.run];
        marks++;
        ends += m.is_end;
        expect(m.before == previous, "mark ", i, " does not know the one before it");
        expect(m.is_end != 0 || previous != 0, "the oldest mark ends no decision");
        expect(m_memory.colds[m.run].live && m.cut != 0 && m.cut <= h.len, "mark ", i, " is of no block");
        if (previous != 0) {
            const mark& p = at(previous);
            const storage::run_head& below = m_memory.heads[p.run];
            expect(p.time <= m.time, "mark ", i, " is older than the one before it");
            expect(m.is_end != 0 || (p.slot == m.slot && below.parent == m.run && below.parent_at < m.cut),
                   "mark ", i, " is not above the one before it");
        }
        if (h.parent != storage::root_run) {
            // The slot holds what is above for at least as long: by this decision or by a younger one.
            const staircase* s = m_staircases[part_of(h.parent, m.slot)].find({h.parent, m.slot});
            std::uint32_t k = s == nullptr ? 0 : s->youngest;
            while (k != 0 && at(k).cut <= h.parent_at) {
                k = at(k).longer;
            }
            expect(k != 0 && at(k).time >= m.time, "mark ", i, " hangs in the air");
        }
    }
    expect(previous == m_last, "the last mark is not the youngest");
    expect(ends == m_alive, m_alive, " decisions counted, found ", ends);
    std::uint64_t on_stairs = 0;
    std::uint64_t held = 0;
    for (const staircases& part : m_staircases) {
        part.for_each([&](const staircase& s) {
            const std::uint64_t word = m_holders.word_of(s.run, s.slot);
            expect(m_approximate[s.slot], "slot ", s.slot, " has marks and is not approximate");
            expect(word != storage::holder::none && storage::holder::uniform(word) &&
                       !storage::holder::complex(word) && storage::holder::end(word, 0) == at(s.oldest).cut,
                   "slot ", s.slot, " holds another part of run ", s.run, " than its oldest decision says");
            held += at(s.oldest).cut;
            std::uint32_t longer = 0;
            for (std::uint32_t i = s.oldest; i != 0; longer = i, i = at(i).shorter) {
                const mark& m = at(i);
                on_stairs++;
                expect(m.run == s.run && m.slot == s.slot && m.longer == longer, "mark ", i,
                       " is in a wrong staircase");
                expect(longer == 0 || (at(longer).cut > m.cut && at(longer).time <= m.time), "mark ", i,
                       " says nothing that a younger one does not say");
            }
            expect(longer == s.youngest, "the staircase of run ", s.run, " ends elsewhere");
        });
    }
    expect(on_stairs == marks, marks, " marks in order, ", on_stairs, " on staircases");
    expect(held == m_held, m_held, " held pairs counted, found ", held);
    expect(m_held <= m_limits.capacity, m_held, " pairs are held, more than the capacity");
    std::uint64_t free = 0;
    for (std::uint32_t i = m_free; i != 0; i = at(i).after) {
        free++;
    }
    expect(marks + free + 1 == m_top, "marks are lost");
    return broken;
}

} // namespace kvindex::index
