/// Saves while a writer goes on: what is loaded is, for every (slot, name), as it was at some time between the
/// beginning of the save and its end, and the events since make it what the index in use has become.
#include "history.hpp"
#include "kvindex/prefix_index.hpp"
#include "scratch_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <thread>

namespace kvindex::tests {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t saves = 6;
#else
constexpr std::uint32_t saves = 16;
#endif

constexpr options no_ghosts{.max_blocks = 1u << 20, .ghost_percent = 0, .ghost_floor = 0};

void apply(prefix_index& index, const told& e, std::vector<slot_id>& handles) {
    if (e.closes) {
        index.close_slot(handles[e.slot]);
        handles[e.slot] = *index.open_slot(e.slot / 3, 0);
        return;
    }
    const event said =
        e.stored ? event(stored_event{handles[e.slot], tier::gpu, e.has_parent, e.parent, e.names, e.locals})
                 : event(removed_event{handles[e.slot], tier::gpu, e.names});
    index.apply({&said, 1});
}

/// (slot, name) pairs that are held, or not, as they never were between `from` and `to` events.
std::size_t untrue(const history& h, const std::vector<std::set<engine_hash>>& held, std::size_t from,
                   std::size_t to) {
    std::size_t wrong = 0;
    for (const auto& [key, changes] : h.names()) {
        if (!held[key.first].empty()) {
            const auto [was, was_not] = h.between(key.first, key.second, from, to);
            wrong += held[key.first].contains(key.second) ? !was : !was_not;
        }
    }
    return wrong;
}

/// What each slot of the index holds, found by taking it away; in the end nothing may be left.
std::vector<std::set<engine_hash>> drain(const history& h, prefix_index& index,
                                         const std::vector<restored_slot>& open) {
    std::vector<std::set<engine_hash>> held(slots);
    for (const restored_slot& s : open) {
        for (const auto& [key, changes] : h.names()) {
            if (key.first == number_of(s.slot)) {
                const event gone = removed_event{s.slot, tier::gpu, {&key.second, 1}};
                if (index.apply({&gone, 1}).unknown_removed == 0) {
                    held[key.first].insert(key.second);
                }
            }
        }
    }
    EXPECT_EQ(index.stats().residencies, 0u);
    EXPECT_EQ(index.first_broken_invariant(), "");
    return held;
}

std::vector<hit> hits(const prefix_index& index, std::uint32_t prompt) {
    std::vector<local_hash> locals;
    for (std::uint32_t i = 0; i < prompt_blocks; i++) {
        locals.push_back(history::local(prompt, i));
    }
    std::vector<hit> found(slots);
    found.resize(index.match(0, locals, found).hits);
    return found;
}

/// Slots whose depth is not as far as they hold the prompt's names (tame ones): a block is at another place
/// then.
std::size_t misplaced(const std::vector<hit>& found, const std::vector<std::set<engine_hash>>& held,
                      std::uint32_t prompt) {
    std::vector<std::uint32_t> depth(slots, 0);
    for (const hit& h : found) {
        depth[h.slot] = h.depth[0];
    }
    std::size_t wrong = 0;
    for (std::uint32_t slot = 0; slot < slots; slot++) {
        std::uint32_t n = 0;
        while (n < prompt_blocks && held[slot].contains(history::tame_name(prompt, n))) {
            n++;
        }
        wrong += n != depth[slot] ? 1u : 0u;
    }
    return wrong;
}

/// All events from `from` on, to an index that was loaded; then it answers as the one in use does.
void catch_up(const history& h, std::size_t from, prefix_index& loaded, const prefix_index& in_use) {
    std::vector<slot_id> handles;
    for (std::uint32_t i = 0; i < slots; i++) {
        handles.push_back(slot_id{static_cast<std::uint32_t>(h.incarnation(i, from)) << slot_number_bits | i});
    }
    for (std::size_t i = from; i < h.events().size(); i++) {
        apply(loaded, h.events()[i], handles);
    }
    EXPECT_EQ(loaded.first_broken_invariant(), "");
    for (std::uint32_t p = 0; p < prompts; p++) {
        const auto a = hits(loaded, p);
        const auto b = hits(in_use, p);
        ASSERT_TRUE(
            std::equal(a.begin(), a.end(), b.begin(), b.end(),
                       [](const hit& x, const hit& y) { return x.slot == y.slot && x.depth == y.depth; }))
            << "prompt " << p;
    }
}

struct shot {
    std::size_t from = 0; ///< events that were over before the save
    std::size_t to = 0;   ///< events that had begun at its end
    bytes file;
};

/// Loads every file and holds it against what was.
void check(const history& h, const std::vector<shot>& shots, const scratch_file& file, bool wild, bool exact,
           const prefix_index& index) {
    std::size_t disturbed = 0;
    std::size_t dropped = 0;
    std::size_t wrong_elsewhere = 0;
    for (const shot& s : shots) {
        file.write(s.file);
        prefix_index loaded(no_ghosts);
        const snapshot_report report = loaded.load(file.path());
        ASSERT_EQ(report.message, "");
        ASSERT_EQ(loaded.first_broken_invariant(), "");
        std::uint32_t same_slots = 0;
        disturbed += report.quiet ? 0 : 1;
        dropped += report.dropped_runs + report.dropped_names;
        for (const restored_slot& slot : report.slots) {
            const std::uint32_t number = number_of(slot.slot);
            ASSERT_GE(incarnation_of(slot.slot), h.incarnation(number, s.from));
            ASSERT_LE(incarnation_of(slot.slot), h.incarnation(number, s.to));
            ASSERT_TRUE(!exact || h.incarnation(number, s.from) == h.incarnation(number, s.to))
                << "slot " << number;
            same_slots += incarnation_of(slot.slot) == h.incarnation(number, s.from) ? 1u : 0u;
        }
        std::vector<std::vector<hit>> answers;
        for (std::uint32_t p = 0; p < prompts && !wild; p++) {
            answers.push_back(hits(loaded, p));
        }
        const auto held = drain(h, loaded, report.slots);
        for (std::uint32_t p = 0; p < answers.size(); p++) {
            ASSERT_EQ(misplaced(answers[p], held, p), 0u) << "prompt " << p;
        }
        ASSERT_EQ(untrue(h, held, s.from, s.to), 0u) << "events " << s.from << " to " << s.to;
        wrong_elsewhere += untrue(h, held, 0, events_at_first / 2);
        // A slot that was closed meanwhile is the caller's to open: only files with all slots can catch up
        // here.
        if (!wild && same_slots == slots) {
            prefix_index again(no_ghosts);
            ASSERT_EQ(again.load(file.path()).status, snapshot_status::ok);
            catch_up(h, s.from, again, index);
        }
    }
    std::printf("%zu of %zu saves met changes; %zu runs and names were dropped\n", disturbed, shots.size(),
                dropped);
    EXPECT_GT(wrong_elsewhere, 0u); // the comparison sees states of another time
}

std::vector<slot_id> open_all(prefix_index& index) {
    std::vector<slot_id> handles;
    for (std::uint32_t i = 0; i < slots; i++) {
        handles.push_back(*index.open_slot(i / 3, 0));
    }
    return handles;
}

/// Between any two runs that are saved, some events: the same each time.
void save_between_events(bool wild) {
    const history h(wild ? 1 : 2, wild);
    const scratch_file file;
    prefix_index index(no_ghosts);
    std::vector<slot_id> handles = open_all(index);
    std::size_t over = 0;
    const auto go_on = [&](std::size_t upto) {
        for (; over < std::min<std::size_t>(upto, all_events); over++) {
            apply(index, h.events()[over], handles);
        }
    };
    go_on(events_at_first);
    std::mt19937_64 random(3);
    std::vector<shot> shots;
    for (std::uint32_t i = 0; i < saves; i++) {
        shot s{.from = over, .to = 0, .file = {}};
        const snapshot_report report =
            index.save(file.path(), {}, {}, [&] { go_on(over + random() % 3 * (random() % 4)); });
        EXPECT_EQ(report.message, "");
        EXPECT_TRUE(!report.quiet || s.from == all_events);
        s.to = over;
        s.file = file.read();
        shots.push_back(s);
    }
    EXPECT_GT(shots[0].to, shots[0].from + 500);
    go_on(all_events);
    check(h, shots, file, wild, true, index);
}

/// A writer beside the save, as they happen to meet.
void save_beside_a_writer(bool wild) {
    const history h(wild ? 3 : 4, wild);
    const scratch_file file;
    prefix_index index(no_ghosts);
    std::vector<slot_id> handles = open_all(index);
    std::atomic<std::size_t> begun{0};
    std::atomic<std::size_t> over{0};
    std::thread writer([&] {
        for (std::size_t i = 0; i < all_events; i++) {
            begun.store(i + 1);
            apply(index, h.events()[i], handles);
            over.store(i + 1);
            if (i > events_at_first && i % 16 == 0) {
                std::this_thread::sleep_for(
                    std::chrono::microseconds(20)); // or it is over before a save begins
            }
        }
    });
    while (over.load() < events_at_first) {
        std::this_thread::yield();
    }
    std::vector<shot> shots;
    while (over.load() < all_events && shots.size() < saves) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        shot s{.from = over.load(), .to = 0, .file = {}};
        EXPECT_EQ(index.save(file.path(), {}, {}).message, "");
        s.to = begun.load();
        s.file = file.read();
        shots.push_back(s);
    }
    writer.join();
    check(h, shots, file, wild, false, index);
}

TEST(snapshot_race, every_block_is_as_it_was_during_the_save) {
    save_between_events(false);
}

TEST(snapshot_race, also_when_names_move_all_the_time) {
    save_between_events(true);
}

TEST(snapshot_race, beside_a_writer) {
    save_beside_a_writer(false);
    save_beside_a_writer(true);
}

} // namespace
} // namespace kvindex::tests
