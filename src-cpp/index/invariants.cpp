/// Checks of the whole index against itself, for tests: nothing here is fast or needed to run.
#include "index/tree_index.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace kvindex::index {

using storage::branch;
using storage::name_entry;
using storage::pack;
using storage::twin_entry;

class invariant_check {
public:
    explicit invariant_check(const tree_index& index) : m_index(index) {
    }

    std::string first_broken() {
        check_runs();
        check_names();
        check_sums();
        check_orphans();
        return m_broken;
    }

private:
    template <typename... Parts>
    void expect(bool holds, const Parts&... parts) {
        if (!holds && m_broken.empty()) {
            std::ostringstream text;
            (text << ... << parts);
            m_broken = text.str();
        }
    }

    static std::string text(place p) {
        std::ostringstream text;
        text << '(' << static_cast<std::uint32_t>(p.run) << ", " << p.offset << ')';
        return text.str();
    }

    void check_runs() {
        std::map<run_id, std::map<std::uint32_t, std::uint32_t>> children;
        m_index.m_tree.for_each_run([&](run_id id, const run& r) {
            const place first{id, 0};
            m_runs++;
            expect(r.size() != 0, "run ", text(first), " is empty");
            expect(r.holders.size() == r.locals.size(), "run ", text(first), ": columns differ in length");
            expect(!r.marked, "run ", text(first), " is still marked");
            if (r.size() == 0 || r.holders.size() != r.locals.size()) {
                return;
            }
            expect(r.holders.back() != 0 || r.has_child_at(r.size() - 1), "run ", text(first),
                   " ends with a block that nobody needs");
            expect(m_index.m_tree.find_child(r.parent, r.locals[0]) == id, "run ", text(first),
                   " is not found behind its parent");
            if (r.parent.run != run_id::none) {
                const run& parent = m_index.m_tree[r.parent.run];
                expect(parent.live && r.parent.offset < parent.size(), "run ", text(first),
                       " hangs in the air");
                expect(r.parent.offset + 1 >= parent.size() ||
                           parent.locals[r.parent.offset + 1] != r.locals[0],
                       "run ", text(first), " repeats its parent's own next block");
                children[r.parent.run][r.parent.offset]++;
            }
            check_segments(id, r);
        });
        m_index.m_tree.for_each_run([&](run_id id, const run& r) {
            std::map<std::uint32_t, std::uint32_t> counted;
            std::uint32_t previous = 0;
            for (const branch& b : r.branches) {
                expect(counted.empty() || b.offset > previous, "branches of run ", text({id, 0}),
                       " are not ascending");
                previous = b.offset;
                counted[b.offset] = b.children;
            }
            expect(counted == children[id], "run ", text({id, 0}), " counts its children wrongly");
        });
        expect(m_runs == m_index.m_tree.runs(), "the count of runs is wrong");
        expect(m_runs == m_index.m_tree.children(), "the child table has other runs than the tree");
    }

    void check_segments(run_id id, const run& r) {
        std::vector<std::uint16_t> holders(r.size(), 0);
        const segment* previous = nullptr;
        for (const segment& s : r.segments) {
            expect(s.tiers != 0 && s.tiers <= all_tiers && s.begin < s.end && s.end <= r.size(), "run ",
                   text({id, s.begin}), ": an interval is not one");
            expect(s.slot < m_index.m_slots.size() && m_index.m_slots[s.slot] != nullptr, "run ",
                   text({id, s.begin}), ": slot ", s.slot, " is not open");
            if (previous != nullptr && previous->slot == s.slot) {
                expect(previous->end <= s.begin, "run ", text({id, s.begin}), ": intervals overlap");
                expect(previous->end != s.begin || previous->tiers != s.tiers, "run ", text({id, s.begin}),
                       ": equal neighbours are not joined");
            }
            expect(previous == nullptr || previous->slot <= s.slot, "run ", text({id, s.begin}),
                   ": intervals are not ascending");
            previous = &s;
            for (std::uint32_t i = s.begin; i < std::min(s.end, r.size()); i++) {
                holders[i]++;
                m_covered[{s.slot, pack({id, i})}] = s.tiers;
            }
        }
        expect(std::equal(holders.begin(), holders.end(), r.holders.begin(), r.holders.end()), "run ",
               text({id, 0}), " counts its holders wrongly");
        m_blocks += static_cast<std::uint64_t>(
            std::count_if(holders.begin(), holders.end(), [](std::uint16_t h) { return h != 0; }));
    }

    void check_names() {
        std::map<std::pair<std::uint32_t, std::uint64_t>, twin_entry> named;
        for (std::uint32_t slot = 0; slot < m_index.m_slots.size(); slot++) {
            const auto& state = m_index.m_slots[slot];
            if (state == nullptr) {
                continue;
            }
            m_open++;
            std::size_t names = 0;
            state->names.for_each([&](const name_entry& e) {
                names++;
                expect(state->names.find(e.name) == &e, "slot ", slot, ": name ", e.name, " is not found");
                expect(e.tiers() != 0, "slot ", slot, ": name ", e.name, " lies in no tier");
                twin_entry& here = named[{slot, pack(e.where())}];
                here.names++;
                for (std::uint32_t t = 0; t < tier_count; t++) {
                    here.in_tier[t] += count_in(e.tiers(), t);
                }
            });
            expect(names == state->names.size(), "slot ", slot, " counts its names wrongly");
            std::size_t twins = 0;
            state->twins.for_each([&](const twin_entry& e) {
                twins++;
                const twin_entry& here = named[{slot, pack(e.where)}];
                expect(e.names >= 2 && e.names == here.names && e.in_tier == here.in_tier, "slot ", slot,
                       ": twins at ", text(e.where), " are counted wrongly");
            });
            const auto expected =
                static_cast<std::size_t>(std::count_if(named.begin(), named.end(), [&](const auto& n) {
                    return n.first.first == slot && n.second.names >= 2;
                }));
            expect(twins == expected && twins == state->twins.size(), "slot ", slot, " has ", expected,
                   " twins, knows ", twins);
        }
        std::map<std::pair<std::uint32_t, std::uint64_t>, tier_mask> by_name;
        for (const auto& [key, here] : named) {
            tier_mask tiers = 0;
            for (std::uint32_t t = 0; t < tier_count; t++) {
                tiers |= static_cast<tier_mask>((here.in_tier[t] != 0 ? 1u : 0u) << t);
            }
            by_name[key] = tiers;
        }
        expect(by_name == m_covered, "names and coverage disagree about who holds what");
    }

    void check_sums() {
        expect(m_open == m_index.m_open, "the count of open slots is wrong");
        expect(m_blocks == m_index.m_coverage.blocks(),
               "the count of blocks is wrong: ", m_index.m_coverage.blocks(), " for ", m_blocks);
        expect(m_covered.size() == m_index.m_coverage.residencies(),
               "the count of residencies is wrong: ", m_index.m_coverage.residencies(), " for ",
               m_covered.size());
    }

    void check_orphans() {
        std::uint64_t waiting = 0;
        m_index.m_orphans.for_each([&](const orphan& o) {
            std::uint64_t alive = 0;
            for (const orphan_block& b : o.blocks) {
                alive += b.struck ? 0 : 1;
            }
            expect(alive != 0 && alive == o.waiting, "a waiting event counts its blocks wrongly");
            expect(number_of(o.slot) < m_index.m_slots.size() && m_index.m_slots[number_of(o.slot)] != nullptr,
                   "an event waits for a slot that is not open");
            waiting += alive;
        });
        expect(waiting == m_index.m_orphans.blocks(), "the count of waiting blocks is wrong");
    }

    const tree_index& m_index;
    std::string m_broken;
    std::uint64_t m_runs = 0;
    std::uint64_t m_blocks = 0;
    std::uint64_t m_open = 0;
    std::map<std::pair<std::uint32_t, std::uint64_t>, tier_mask> m_covered;
};

std::string tree_index::first_broken_invariant() const {
    return invariant_check(*this).first_broken();
}

} // namespace kvindex::index
